import type { Session } from '../play/session';
import { METHODS, store, type ToolName } from '../state/state';
import type { Tools } from '../tools/tools';
import { pickMethod } from './methodtab';
import { HEATS } from './showtab';
import { clipLength, goTo, stepFrames } from './timeline';
import type { TopActions } from './topbar';

const TOOL_KEYS: Record<string, ToolName> = { b: 'brush', c: 'fibre', m: 'muscle', p: 'pose', v: 'look' };

/** Keys of the whole page. `escape` closes or cancels the topmost thing. */
export function listenToKeys(session: Session, tools: Tools, actions: TopActions, escape: () => void): void {
  const plain: Record<string, () => void> = {
    ' ': () => store.set({ playing: !store.state.playing }),
    ArrowLeft: () => void stepFrames(session, -1),
    ArrowRight: () => void stepFrames(session, 1),
    Home: () => void goTo(session, 0),
    End: () => void goTo(session, clipLength().seconds),
    l: () => store.set({ loop: !store.state.loop }),
    h: nextHeat,
    w: () => store.set({ wire: !store.state.wire }),
    k: () => store.set({ skeleton: !store.state.skeleton }),
    f: actions.frame,
    s: actions.split,
    t: () => store.set({ panelOpen: !store.state.panelOpen }),
    '?': actions.help,
    Escape: escape,
  };
  METHODS.forEach((name, i) => (plain[String(i + 1)] = () => pickMethod(session, name)));
  for (const [key, tool] of Object.entries(TOOL_KEYS)) plain[key] = () => store.set({ tool: store.state.tool === tool ? 'look' : tool });

  window.addEventListener('keydown', (event) => {
    if (document.querySelector('dialog[open]')) return;
    if (event.ctrlKey || event.metaKey) return control(event, session);
    if (event.altKey || keepsKey(event)) return;
    if (tools.key(event)) return event.preventDefault();
    const run = plain[event.key] ?? plain[event.key.toLowerCase()];
    if (!run) return;
    event.preventDefault();
    run();
  });
}

function control(event: KeyboardEvent, session: Session): void {
  const key = event.key.toLowerCase();
  const redo = key === 'y' || (key === 'z' && event.shiftKey);
  if (!redo && key !== 'z') return;
  event.preventDefault();
  if (redo) session.redo();
  else session.undo();
}

/** Whether a control with the focus means this key itself. */
function keepsKey(event: KeyboardEvent): boolean {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLSelectElement) return event.key !== 'Escape';
  if (target instanceof HTMLInputElement) {
    if (target.type === 'text' || target.type === 'number') return true;
    if (target.type === 'range') return event.key.startsWith('Arrow') || event.key === 'Home' || event.key === 'End';
    return event.key === ' ';
  }
  // A focused button is pressed by the space bar.
  return target instanceof HTMLButtonElement && (event.key === ' ' || event.key === 'Enter');
}

function nextHeat(): void {
  const { heat, prepared } = store.state;
  const all = [null, ...HEATS.map(({ value }) => value).filter((value) => prepared?.heats.includes(value))];
  store.set({ heat: all[(all.indexOf(heat) + 1) % all.length] ?? null });
}
