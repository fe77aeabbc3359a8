import { startEngine } from '../engine/client';
import type { Engine, Frame, Opened, Recording, Settings, Show, Source } from '../engine/protocol';
import { loadLook, type Look, plainLook } from '../scene/look';
import { History } from '../state/history';
import { write } from '../state/settings';
import { type Character, type Method, methodOf, store, type Work } from '../state/state';
import { Player } from './player';
import { type Side, Slot } from './slot';

/** How long to wait for more changes before a preparation, in milliseconds. */
const QUIET = 350;
/** What belongs to one character and makes no sense on another. */
const OF_A_CHARACTER = [
  'paint', 'region', 'fibre', 'body', 'smooth.fat', 'smooth.joint', 'volume.painted', 'volume.merged', 'volume.excluded',
  'metaballs.muscle', 'metaballs.joint', 'simulation.metres_per_unit',
];

/** What a session tells the page. */
export interface SessionHooks {
  work(key: string, work: Work | null): void;
  error(error: Error, during: string): void;
  notes(notes: string[]): void;
  /** Another character is to be shown. */
  character(character: Character, look: Look): void;
  frames(frames: Frame[]): void;
  /** There are two halves, or one again. */
  halves(count: number, character: Character, look: Look): void;
}

/** What to show of a character that is opened. */
export interface Opening {
  clip?: string | number;
  seconds?: number;
  settings?: Settings;
  /** Keeps what is painted and drawn: it is the same character again. */
  same?: boolean;
}

/** One character, its settings with their history, and the engines that play it. */
export class Session {
  readonly player: Player;
  readonly a: Slot;
  readonly b: Slot;
  private readonly history = new History<Settings>();
  /** From the character to the eye. */
  eye: () => [number, number, number] = () => [0, 0, 1];
  private look: Look | null = null;
  private showing: Promise<void> = Promise.resolve();
  /** The method that the user chose last: one character that cannot have it does not take it from the next. */
  private preferred = methodOf(store.state.settings);
  private lastOpen: Promise<boolean> | null = null;
  private opening: { engine: Engine } | null = null;
  /** Reads settings and lists samples before there is a character. */
  private clerk: Promise<Engine> | null = null;

  constructor(private readonly hooks: SessionHooks) {
    this.player = new Player(
      (frames) => hooks.frames(frames),
      (error) => this.broke(error),
    );
    const character = () => store.state.character;
    this.a = new Slot('Preparing', {
      character,
      work: (work) => hooks.work('a', work),
      ready: (side, anew) => this.ready(side, anew, 0),
      failed: (error) => this.failed(error),
    });
    this.b = new Slot('Preparing B', {
      character,
      work: (work) => hooks.work('b', work),
      ready: (side, anew) => this.ready(side, anew, 1),
      failed: (error) => {
        if (error) hooks.error(error, 'prepare the second half');
        if (!this.b.side) this.unsplit();
      },
    });
    store.on(['heat', 'drawing', 'cut'], () => (this.showing = this.showAgain()));
    store.on(['playing'], ({ playing, clip, seconds }) => {
      if (playing) void this.player.seek(clip, this.atEnd() ? 0 : seconds);
    });
  }

  /** An engine to ask small things of. */
  async anyEngine(): Promise<Engine> {
    if (this.a.side) return this.a.side.engine;
    this.clerk ??= startEngine();
    return this.clerk;
  }

  /** Opens a character and plays it; the last one stays until this one moves. False where it did not open. */
  open(source: Source, recording: Recording | null, how: Opening = {}): Promise<boolean> {
    const opened = this.openNow(source, recording, how);
    this.lastOpen = opened;
    return opened;
  }

  private async openNow(source: Source, recording: Recording | null, how: Opening): Promise<boolean> {
    this.opening?.engine.stop();
    const opening = { engine: await this.takeEngine() };
    this.opening = opening;
    let cancelled = false;
    const cancel = () => {
      cancelled = true;
      opening.engine.stop();
    };
    const report = (share: number) => this.hooks.work('open', { label: 'Opening', share, cancel });
    let settings = how.settings ?? (how.same ? store.state.settings : write(forAnother(store.state.settings), 'method', this.preferred));
    this.preferred = methodOf(settings);
    // Plain skinning is ready at once: the character moves by it while its flesh is prepared in another engine.
    const first = write(settings, 'method', 'lbs');
    try {
      report(0);
      const opened = await opening.engine.open(source, recording, first, (share) => report(0.6 * share));
      // What a file says of its softness counts where nothing is set for the whole body.
      if (opened.about.regions.length > 0 && !how.settings && !how.same) settings = write(settings, 'preset', undefined);
      const character = { source, recording, opened };
      const look = await this.lookOf(source, opened);
      if (this.opening !== opening) throw new Superseded();
      if (!store.state.character) this.hooks.character(character, look);
      const prepared = await opening.engine.prepare(first, (share) => report(0.6 + 0.4 * share));
      if (this.opening !== opening) throw new Superseded();
      this.opening = null;
      this.hooks.work('open', null);
      await this.adopt(character, look, { engine: opening.engine, prepared, settings: first }, settings, how);
      return true;
    } catch (error) {
      opening.engine.stop();
      if (this.opening === opening) this.opening = null;
      if (!cancelled && !(error instanceof Superseded) && this.opening === null) this.hooks.error(error as Error, 'open');
      return false;
    } finally {
      if (this.opening === null) this.hooks.work('open', null);
    }
  }

  /** Changes settings as one step of the history; those with the same tag in quick succession are one. */
  change(settings: Settings, tag = ''): void {
    const before = store.state.settings;
    this.history.push(before, tag);
    this.preferred = methodOf(settings);
    this.take(settings, methodOf(before) === methodOf(settings) ? QUIET : 0);
  }

  undo(): void {
    const settings = this.history.undo(store.state.settings);
    if (settings) this.take(settings, 0);
  }

  redo(): void {
    const settings = this.history.redo(store.state.settings);
    if (settings) this.take(settings, 0);
  }

  /** Shows another method at the right, in step; null is one view again. */
  split(method: Method | null): void {
    const { character } = store.state;
    if (!character || !this.look) return;
    if (method === null) return this.unsplit();
    store.set({ split: method });
    void this.b.want(write(store.state.settings, 'method', method));
  }

  /** When all that was asked for is shown. */
  async idle(): Promise<void> {
    await this.lastOpen;
    await this.a.idle();
    await this.b.idle();
    await this.showing;
    await this.player.idle();
  }

  /** What a fresh engine needs to bake what is shown. */
  async freshEngine(progress: (share: number) => void, started: (engine: Engine) => void): Promise<Engine> {
    const { character, settings } = store.state;
    if (!character) throw new Error('there is no character to bake yet');
    const engine = await startEngine();
    started(engine);
    await engine.open(character.source, character.recording, settings, (share) => progress(0.5 * share));
    await engine.prepare(settings, (share) => progress(0.5 + 0.5 * share));
    return engine;
  }

  private take(settings: Settings, delay: number): void {
    store.set({ settings, canUndo: this.history.canUndo, canRedo: this.history.canRedo });
    void this.a.want(settings, delay);
    const { split } = store.state;
    if (split) void this.b.want(write(settings, 'method', split), delay);
  }

  private unsplit(): void {
    const { character } = store.state;
    store.set({ split: null });
    const side = this.b.side;
    void this.player.use(this.a.side ? [this.a.side] : []).then(() => {
      if (this.b.side === side) this.b.clear();
      if (character) this.hooks.halves(1, character, this.look!);
    });
  }

  private async adopt(character: Character, look: Look, side: Side, settings: Settings, how: Opening): Promise<void> {
    this.b.clear();
    await this.player.use([]);
    this.look = look;
    this.history.clear();
    const { clips, recorded, warnings } = character.opened.about;
    const clip = chooseClip(character, how.clip ?? recorded ?? 0);
    store.set({
      character, settings, clip, seconds: 0, split: null, tool: 'look', curve: null, bone: null, prepared: side.prepared,
      preparedWith: side.settings,
      canUndo: false, canRedo: false,
    });
    this.hooks.character(character, look);
    this.a.put(side);
    await this.showAgain();
    await this.player.use([side]);
    const seconds = Math.min(how.seconds ?? 0, clip === null ? 0 : clips[clip]!.seconds);
    await this.player.seek(clip, seconds);
    this.hooks.notes([...warnings, ...look.notes]);
    if (methodOf(settings) !== 'lbs') await this.a.want(settings);
  }

  /** Takes a side that was tuned or made anew into the play. */
  private async ready(side: Side, anew: boolean, half: number): Promise<void> {
    const { character } = store.state;
    if (anew) {
      if (half === 0) this.settleShow(side);
      await side.engine.show(this.wishedShow(side));
      // Once before it is shown, so that it need not be waited for, and once in step with what is shown.
      await side.engine.seek(store.state.clip, store.state.seconds);
      const sides = half === 0 ? [side, this.b.side] : [this.a.side, side];
      await this.player.use(sides.filter((one): one is Side => one !== null));
      if (half === 1 && character) this.hooks.halves(2, character, this.look!);
      this.hooks.notes(side.prepared.warnings);
      if (half === 0) store.set({ prepared: side.prepared, preparedWith: side.settings });
      await this.readScale();
      await this.player.seek(store.state.clip, store.state.seconds);
    } else if (!store.state.playing) {
      await this.player.seek(store.state.clip, store.state.seconds);
    }
  }

  /** Keeps to heat maps and drawings that a method has. */
  private settleShow(side: Side): void {
    const { heat, drawing } = store.state;
    store.set({
      heat: heat && side.prepared.heats.includes(heat) ? heat : null,
      drawing: drawing && side.prepared.drawings.includes(drawing) ? drawing : null,
    });
  }

  private wishedShow(side: Side): Show {
    const { heat, drawing, cut } = store.state;
    return {
      heat: heat && side.prepared.heats.includes(heat) ? heat : null,
      drawing: drawing && side.prepared.drawings.includes(drawing) ? drawing : null,
      cut,
      eye: this.eye(),
    };
  }

  /** Tells engines what frames are to carry. */
  async showAgain(): Promise<void> {
    const sides = [this.a.side, this.b.side].filter((side): side is Side => side !== null);
    try {
      await Promise.all(sides.map((side) => side.engine.show(this.wishedShow(side))));
      await this.readScale();
      this.player.refresh();
    } catch (error) {
      this.hooks.error(error as Error, 'show that');
    }
  }

  private async readScale(): Promise<void> {
    const { heat } = store.state;
    store.set({ scale: heat && this.a.side ? await this.a.side.engine.heatScale(heat) : null });
  }

  private failed(error: Error | null): void {
    if (error) this.hooks.error(error, 'prepare');
    // What plays is what is set.
    if (this.a.side) store.set({ settings: this.a.side.settings });
    if (!error) this.preferred = methodOf(store.state.settings);
  }

  private broke(error: Error): void {
    store.set({ playing: false });
    this.hooks.error(error, 'play');
  }

  private atEnd(): boolean {
    const { clip, seconds, loop, character } = store.state;
    const length = clip === null ? Infinity : (character?.opened.about.clips[clip]?.seconds ?? Infinity);
    return !loop && seconds >= length - 1e-6;
  }

  private takeEngine(): Promise<Engine> {
    const engine = this.clerk ?? startEngine();
    this.clerk = null;
    return engine;
  }

  private async lookOf(source: Source, opened: Opened): Promise<Look> {
    const { parts, name } = opened.about;
    if (opened.document) return loadLook({ name: `${name}.glb`, bytes: opened.document }, [], parts);
    if ('sample' in source) return plainLook(parts);
    const main = source.files.find((file) => file.name === source.main);
    return main ? loadLook(main, source.files, parts) : plainLook(parts);
  }
}

class Superseded extends Error {}

/** The settings without what was made for one character. */
export function forAnother(settings: Settings): Settings {
  return OF_A_CHARACTER.reduce((all, path) => write(all, path, undefined), settings);
}

function chooseClip({ opened }: Character, wish: string | number): number | null {
  const { clips } = opened.about;
  if (clips.length === 0) return null;
  const named = clips.findIndex((clip) => clip.name === wish);
  if (named >= 0) return named;
  return typeof wish === 'number' && clips[wish] ? wish : 0;
}

