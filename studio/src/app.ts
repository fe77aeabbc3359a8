import { Vector3 } from 'three';
import type { NamedFile, Recording, Settings, Source } from './engine/protocol';
import { droppedFiles, type Dropped, pickedFiles, sortOut, sourceOf } from './io/drop';
import { fileNameOf } from './io/paths';
import { bakeCommand, characterStem, download, downloadAll } from './io/save';
import { linkHash } from './io/links';
import { type Opening, Session } from './play/session';
import { Figure } from './scene/figure';
import { disposeLook, type Look } from './scene/look';
import { Stage } from './scene/stage';
import { type Method, methodOf, METHODS, store } from './state/state';
import { PAINTS } from './tools/paint';
import { Tools } from './tools/tools';
import { Charts } from './ui/charts';
import { iconButton, textButton } from './ui/controls';
import { showExport, showMapping, showShortcuts, showText } from './ui/dialogs';
import { el } from './ui/dom';
import { gallery } from './ui/gallery';
import { Legend } from './ui/legend';
import { Messages } from './ui/messages';
import { METHOD_SPECS } from './ui/methods';
import { methodTab } from './ui/methodtab';
import { panel } from './ui/panel';
import { listenToKeys } from './ui/shortcuts';
import { showTab } from './ui/showtab';
import { timeline } from './ui/timeline';
import { toolTab } from './ui/tooltab';
import { isDark, rememberTheme, type TopActions, topbar } from './ui/topbar';
import { VertexCard } from './ui/vertexcard';

/** Milliseconds between readings of a vertex's numbers. */
const VERTEX_PAUSE = 150;

/** The whole page. */
export class App {
  readonly session: Session;
  readonly stage: Stage;
  readonly messages = new Messages();
  readonly tools: Tools;
  private readonly charts = new Charts();
  private readonly legend = new Legend();
  private readonly card = new VertexCard(() => this.tools.look.forget());
  private readonly halves = el('div', { class: 'halves', hidden: true });
  /** What else could be done where opening fails. */
  private offer: { label: string; run: () => void } | null = null;
  private look: Look | null = null;
  /** What was said of this character: once is enough. */
  private readonly said = new Set<string>();
  private nextReading = 0;
  private lastEye = new Vector3();

  constructor(root: HTMLElement) {
    const canvas = el('canvas', { class: 'stage', id: 'stage', tabIndex: 0, role: 'img', 'aria-label': 'The character' });
    const viewport = el('div', { class: 'viewport', id: 'viewport' }, canvas, this.halves, this.legend.element, this.card.element, this.messages.notes, this.messages.element);
    this.session = this.makeSession();
    const actions = this.actions();
    const middle = el('main', { class: 'middle' });
    const main = [topbar(actions), middle, timeline(this.session)];
    middle.append(gallery((sample) => void this.session.open({ sample: sample.name }, null)), viewport);
    root.replaceChildren(...main);
    this.stage = new Stage(canvas);
    this.tools = new Tools({ stage: this.stage, session: this.session, figure: () => this.stage.figures[0] ?? null }, (numbers) => {
      if (numbers) this.card.show(numbers);
      else this.card.hide();
    });
    middle.append(
      panel(
        [
          { name: 'method', label: 'Method', body: methodTab(this.session) },
          { name: 'show', label: 'Show', body: showTab() },
          { name: 'tools', label: 'Tools', body: toolTab(this.session, this.tools) },
        ],
        this.charts.element,
      ),
    );
    this.messages.element.prepend(this.hint());
    this.session.eye = () => this.stage.eye().toArray();
    this.stage.onBefore.push((milliseconds) => this.session.player.advance(milliseconds));
    listenToKeys(this.session, this.tools, actions, () => this.escape());
    this.watch();
    this.listenToDrops(root);
  }

  /** Opens what was dropped, chosen or served. */
  async take(dropped: Dropped): Promise<void> {
    this.messages.clearErrors();
    store.set({ hint: false });
    if (dropped.kind !== 'settings') store.set({ playing: true });
    if (dropped.kind === 'settings') return this.loadSettings(new TextDecoder().decode(dropped.file.bytes), dropped.file.name);
    if (dropped.kind === 'recording') {
      const { character } = store.state;
      if (!character) return;
      return this.openWith(character.source, { file: dropped.file, map: dropped.map ?? undefined }, { same: true });
    }
    const settings = dropped.settings ? await this.readSettings(new TextDecoder().decode(dropped.settings.bytes), dropped.settings.name) : undefined;
    if (settings === null) return;
    const recording = dropped.recording && { file: dropped.recording };
    await this.openWith(dropped.source, recording, { settings: settings && { ...settings, method: settings.method ?? methodOf(store.state.settings) } });
  }

  private makeSession(): Session {
    return new Session({
      work: (key, work) => this.messages.work(key, work),
      error: (error, during) => this.explain(error, during),
      notes: (notes) => {
        for (const note of notes.filter((text) => !this.said.has(text))) this.messages.note(note);
        for (const note of notes) this.said.add(note);
      },
      character: (character, look) => {
        this.setFigures([new Figure(character.opened, look)]);
        if (this.look && this.look !== look) disposeLook(this.look);
        this.look = look;
        this.said.clear();
        this.charts.clear();
        this.frame();
      },
      frames: (frames) => {
        frames.forEach((frame, i) => this.stage.figures[i]?.show(frame));
        const first = this.stage.figures[0];
        if (first) this.stage.follow(first.skeleton.middle());
        this.charts.add(frames);
        this.tools.follow();
        this.stage.redraw();
        this.readVertex();
      },
      halves: (count, character, look) => {
        const [first, second] = this.stage.figures;
        if (!first) return;
        this.setFigures(count === 1 ? [first] : [first, second ?? new Figure(character.opened, look)]);
        this.charts.clear();
      },
    });
  }

  private setFigures(figures: Figure[]): void {
    for (const figure of this.stage.figures) {
      if (figures.includes(figure)) continue;
      this.stage.scene.remove(figure.group);
      figure.dispose();
    }
    for (const figure of figures) this.stage.scene.add(figure.group);
    this.stage.figures = figures;
    this.stage.resize();
    this.restyle();
  }

  private frame(): void {
    const figure = this.stage.figures[0];
    if (!figure) return;
    const rest = figure.restBounds();
    const box = figure.frame ? figure.bounds() : rest;
    this.stage.frame(box, Math.min(rest.min.y, box.min.y));
  }

  private watch(): void {
    store.watch(['theme'], ({ theme }) => {
      rememberTheme(theme);
      document.documentElement.dataset.theme = isDark(theme) ? 'dark' : 'light';
      this.stage.theme(isDark(theme));
      this.restyle();
    });
    matchMedia('(prefers-color-scheme: light)').addEventListener('change', () => {
      document.documentElement.dataset.theme = isDark(store.state.theme) ? 'dark' : 'light';
      this.stage.theme(isDark(store.state.theme));
    });
    store.on(['heat', 'scale', 'drawing', 'wire', 'skeleton', 'skin', 'tool'], () => this.restyle());
    store.watch(['heat', 'scale', 'tool', 'brush'], ({ heat, scale, tool, brush }) => {
      this.legend.show(tool === 'brush' ? PAINTS[brush.kind].scale : heat && scale);
    });
    store.watch(['split', 'settings', 'character'], () => this.labelHalves());
    // What is cut open faces the eye: told anew once the camera rests.
    this.stage.controls.addEventListener('end', () => {
      const { drawing } = store.state;
      if (drawing !== 'tets' && drawing !== 'layers') return;
      const eye = this.stage.eye();
      if (eye.distanceTo(this.lastEye) > 0.02) void this.session.showAgain();
      this.lastEye = eye;
    });
  }

  private restyle(): void {
    const { heat, drawing, wire, skeleton, skin, tool, theme, scale } = store.state;
    const within = drawing === 'tets' || drawing === 'layers' ? 'hidden' : 'ghost';
    for (const figure of this.stage.figures) {
      figure.scale = scale;
      figure.look({
        heat: heat !== null,
        skin: !skin ? 'hidden' : drawing === null ? 'solid' : within,
        wire,
        skeleton: skeleton || tool === 'pose',
        dark: isDark(theme),
      });
    }
    this.stage.redraw();
  }

  private labelHalves(): void {
    const { split, settings } = store.state;
    this.halves.hidden = split === null;
    if (split === null) return;
    const pick = el('select', { class: 'select', style: 'left: 75%', 'aria-label': 'Method at the right', id: 'split-method' });
    pick.append(...METHODS.map((name) => el('option', { value: name, selected: name === split }, `B · ${METHOD_SPECS[name].title}`)));
    pick.onchange = () => this.session.split(pick.value as Method);
    this.halves.replaceChildren(el('span', { style: 'left: 25%' }, `A · ${METHOD_SPECS[methodOf(settings)].title}`), pick);
  }

  private readVertex(): void {
    const now = performance.now();
    if (!this.card.shown || now < this.nextReading) return;
    this.nextReading = now + VERTEX_PAUSE;
    void this.tools.look.refresh();
  }

  private hint(): HTMLElement {
    const element = el(
      'div',
      { class: 'hint', id: 'hint' },
      el('span', {}, 'Drop a glTF, VRM, OBJ or BVH anywhere'),
      textButton('Choose a file', () => this.actions().open(), 'small'),
      iconButton('close', 'Dismiss', () => store.set({ hint: false })),
    );
    store.watch(['hint'], ({ hint }) => (element.hidden = !hint));
    return element;
  }

  private explain(error: Error, during: string): void {
    const titles: Record<string, string> = {
      open: 'This file cannot be opened', prepare: 'This method cannot be prepared', play: 'It stopped moving', bake: 'It could not be baked',
    };
    this.messages.error(titles[during] ?? `Could not ${during}`, error.message, during === 'open' ? (this.offer ?? undefined) : undefined);
  }

  /** Opens a character, with a recording where there is one: shows how that came onto it, or offers it alone. */
  private async openWith(source: Source, recording: Recording | null, how: Opening): Promise<void> {
    const alone = () => void this.session.open(sourceOf(recording!.file, [recording!.file]), null);
    this.offer = recording && { label: 'Open the recording as a stick figure', run: alone };
    const opened = await this.session.open(source, recording, how);
    this.offer = null;
    const mapping = store.state.character?.opened.about.mapping;
    if (opened && recording && mapping) showMapping(fileNameOf(recording.file.name), mapping, alone);
  }

  /** The settings in a text, or null where it has none, which is said. */
  private async readSettings(toml: string, name: string): Promise<Settings | null> {
    try {
      return await (await this.session.anyEngine()).readSettings(toml);
    } catch (error) {
      this.messages.error(`${fileNameOf(name)} cannot be used`, (error as Error).message);
      return null;
    }
  }

  private async loadSettings(toml: string, name: string): Promise<void> {
    const settings = await this.readSettings(toml, name);
    if (!settings) return;
    this.session.change({ ...settings, method: settings.method ?? methodOf(store.state.settings) });
    this.messages.note(`Settings of ${fileNameOf(name)} are in use`);
  }

  private actions(): TopActions {
    return {
      open: () => this.choose({ multiple: true, accept: '.glb,.gltf,.vrm,.obj,.bvh,.tgf,.mhskel,.dmat,.mhw,.json,.toml,.bin,.mtl,.png,.jpg,.jpeg,.webp' }),
      openFolder: () => this.choose({ webkitdirectory: true }),
      saveSettings: () => void this.saveSettings(),
      loadSettings: () => this.choose({ accept: '.toml' }),
      export: () => this.export(),
      picture: () => void this.stage.picture().then((blob) => download(`${characterStem()}.png`, blob)),
      copyCommand: () => void this.copy('The command that bakes this', bakeCommand()),
      copyLink: () => void this.copy('A link to this', location.href.replace(/#.*/, '') + linkHash()),
      split: () => this.session.split(store.state.split ? null : this.otherMethod()),
      frame: () => this.frame(),
      help: showShortcuts,
    };
  }

  /** Soft flesh is best seen beside plain skinning, and plain skinning beside soft flesh. */
  private otherMethod(): Method {
    return methodOf(store.state.settings) === 'lbs' ? 'position' : 'lbs';
  }

  private choose(props: Record<string, unknown>): void {
    const input = el('input', { type: 'file', ...props });
    input.onchange = () => {
      if (input.files) this.takeFiles(pickedFiles(input.files));
    };
    input.click();
  }

  private takeFiles(files: Promise<NamedFile[]>): void {
    files
      .then((all) => this.take(sortOut(all, store.state.character !== null)))
      .catch((error: Error) => this.messages.error('These files cannot be used', error.message));
  }

  private async saveSettings(): Promise<void> {
    try {
      const engine = await this.session.anyEngine();
      download(`${characterStem()}.toml`, await engine.writeSettings(store.state.settings));
    } catch (error) {
      this.messages.error('The settings could not be written', (error as Error).message);
    }
  }

  private export(): void {
    const { character, clip } = store.state;
    if (!character) return;
    const name = clip === null ? 'the default pose' : `the clip “${character.opened.about.clips[clip]?.name}”`;
    showExport(name, (format, fps) => void this.bake(format, fps));
  }

  private async bake(format: 'glb' | 'pc2', fps: number | undefined): Promise<void> {
    let stop = () => {};
    let cancelled = false;
    const cancel = () => {
      cancelled = true;
      stop();
    };
    const report = (share: number) => this.messages.work('bake', { label: 'Baking', share, cancel });
    try {
      report(0);
      const engine = await this.session.freshEngine((share) => report(0.3 * share), (started) => (stop = () => started.stop()));
      const baked = await engine.bake({ clip: store.state.clip, format, fps }, (share) => report(0.3 + 0.7 * share));
      downloadAll(`${characterStem()}-soft`, baked.files);
      this.messages.note(`Baked ${baked.frames} frames, state hash ${baked.stateHash}`);
    } catch (error) {
      if (!cancelled) this.explain(error as Error, 'bake');
    } finally {
      stop();
      this.messages.work('bake', null);
    }
  }

  private async copy(what: string, text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.messages.note(`${what} is on the clipboard`);
    } catch {
      showText(what, text);
    }
  }

  private escape(): void {
    if (this.messages.clearErrors() || this.messages.cancel()) return;
    if (this.card.shown) return this.card.hide();
    store.set({ tool: 'look' });
  }

  private listenToDrops(root: HTMLElement): void {
    const cover = el('div', { class: 'drop-cover', hidden: true }, 'Drop it');
    root.append(cover);
    window.addEventListener('dragover', (event) => {
      event.preventDefault();
      cover.hidden = false;
    });
    window.addEventListener('dragleave', (event) => {
      if (event.relatedTarget === null) cover.hidden = true;
    });
    window.addEventListener('drop', (event) => {
      event.preventDefault();
      cover.hidden = true;
      if (event.dataTransfer) this.takeFiles(droppedFiles(event.dataTransfer));
    });
  }
}
