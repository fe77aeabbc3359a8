import { setConsoleFunction } from 'three';
import { App } from './app';
import type { Settings } from './engine/protocol';
import { keepAddress, type LinkState, readLink } from './io/links';
import { servedSource } from './io/served';
import { type State, store } from './state/state';
import { rememberedTheme } from './ui/topbar';

/** What a first visitor sees. */
const FIRST: LinkState = { sample: 'bunny', clip: 'run', method: 'position', preset: 'fat' };

/** A handle for tests: waits for things, reads the state, asks for a moment's hash. */
interface TestHandle {
  /** When the first character moves by the method that was asked for. */
  ready: Promise<void>;
  state(): Readonly<State>;
  /** Pauses at a time of a clip (by name) and gives the hash of the skin there. */
  seek(clip: string | null, seconds: number): Promise<string>;
  /** When all that was asked for is prepared and shown. */
  idle(): Promise<void>;
  app: App;
}

declare global {
  interface Window {
    pliant: TestHandle;
  }
}

async function start(): Promise<void> {
  const narrow = matchMedia('(max-width: 1000px)').matches;
  store.set({ settings: settingsOf(FIRST), theme: rememberedTheme(), panelOpen: !narrow });
  const app = new App(document.getElementById('app')!);
  // What three.js has to say about a file is for the user.
  setConsoleFunction((kind, message) => {
    if (kind !== 'log') app.messages.note(message.replace(/^THREE\.\w+: /, ''));
  });
  const ready = first(app);
  window.pliant = {
    ready,
    state: () => store.state,
    idle: () => app.session.idle(),
    app,
    async seek(clip, seconds) {
      const at = store.state.character!.opened.about.clips.findIndex(({ name }) => name === clip);
      store.set({ playing: false });
      await app.session.player.seek(at < 0 ? null : at, seconds);
      return app.session.a.side!.engine.hash();
    },
  };
  await ready;
  keepAddress();
}

/** Opens what the command serves, what the link says, or the first sample. */
async function first(app: App): Promise<void> {
  try {
    const engine = await app.session.anyEngine();
    store.set({ samples: await engine.samples() });
    const served = await servedSource();
    if (served) store.set({ hint: false });
    if (!served || !(await app.session.open(served, null))) await openLink(app);
  } catch (error) {
    app.messages.error('The studio could not start', (error as Error).message);
  }
}

async function openLink(app: App): Promise<void> {
  const link = readLink(location.hash);
  // A link to a moment shows that moment.
  if (link.seconds !== undefined) store.set({ playing: false });
  const opened = link.sample !== undefined && (await show(app, { method: FIRST.method, ...link }));
  if (!opened) await show(app, FIRST);
}

function show(app: App, { sample, clip, method, preset, seconds }: LinkState): Promise<boolean> {
  return app.session.open({ sample: sample! }, null, { clip, seconds, settings: settingsOf({ method, preset }) });
}

function settingsOf({ method, preset }: LinkState): Settings {
  return { method, ...(preset ? { preset } : {}) };
}

// The shell is painted before anything heavy starts.
requestAnimationFrame(() => setTimeout(() => void start()));
