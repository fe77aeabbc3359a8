import type { Session } from '../play/session';
import { type Brush, type Method, methodOf, type PaintKind, type State, store, type ToolName } from '../state/state';
import type { CurveTool } from '../tools/curve';
import { PAINTS, withPaint } from '../tools/paint';
import type { Tools } from '../tools/tools';
import { choices, iconButton, section, slider, textButton, toggle } from './controls';
import { el, setPressed } from './dom';
import { icon } from './icons';
import { METHOD_SPECS } from './methods';
import { pickMethod } from './methodtab';

const TOOLS: { name: ToolName; label: string; key: string }[] = [
  { name: 'look', label: 'Look', key: 'V' },
  { name: 'brush', label: 'Brush', key: 'B' },
  { name: 'fibre', label: 'Fibres', key: 'C' },
  { name: 'muscle', label: 'Muscles', key: 'M' },
  { name: 'pose', label: 'Pose', key: 'P' },
];

/** The tools, and what can be set of the one in hand. */
export function toolTab(session: Session, tools: Tools): HTMLElement {
  const buttons = TOOLS.map(({ name, label, key }) =>
    el(
      'button',
      { type: 'button', role: 'radio', 'data-tool': name, title: `${label} (${key})`, onclick: () => store.set({ tool: name }) },
      icon(name),
      label,
    ),
  );
  const undo = iconButton('undo', 'Undo', () => session.undo(), 'Ctrl+Z', 'undo');
  const redo = iconButton('redo', 'Redo', () => session.redo(), 'Ctrl+Shift+Z', 'redo');
  const pages: Record<ToolName, HTMLElement> = {
    look: el('p', { class: 'fine' }, 'Drag to turn the view, right-drag to move it, scroll to zoom. Click the skin to read a vertex; with the skeleton shown, click a bone to pose it.'),
    brush: brushPage(session),
    fibre: curvePage(session, tools.fibre, 'fibre', ['strain'], 'Fibres'),
    muscle: curvePage(session, tools.muscle, 'muscle', ['metaballs'], 'Action lines'),
    pose: posePage(tools),
  };
  store.watch(['tool'], ({ tool }) => {
    buttons.forEach((button) => button.setAttribute('aria-checked', String(button.dataset.tool === tool)));
    for (const [name, page] of Object.entries(pages)) page.hidden = name !== tool;
  });
  store.watch(['canUndo', 'canRedo'], ({ canUndo, canRedo }) => {
    undo.disabled = !canUndo;
    redo.disabled = !canRedo;
  });
  return el(
    'div',
    { class: 'tab' },
    el('div', { class: 'tool-buttons', role: 'radiogroup', 'aria-label': 'Tool' }, ...buttons),
    ...Object.values(pages),
    el('div', { class: 'row' }, undo, redo),
  );
}

/** Says where the work of a tool counts, and takes the user there. */
function advice(session: Session, methods: () => Method[], keys: (keyof State)[]): HTMLElement {
  const text = el('span');
  const button = textButton('', () => pickMethod(session, methods()[0]!), 'small');
  const element = el('div', { class: 'advice' }, text, button);
  store.watch(['settings', ...keys], ({ settings }) => {
    const wanted = methods();
    element.hidden = wanted.includes(methodOf(settings));
    text.textContent = `This counts in the method ${wanted.map((name) => METHOD_SPECS[name].title).join(', ')}.`;
    button.textContent = `Use ${METHOD_SPECS[wanted[0]!].title}`;
  });
  return element;
}

function brushPage(session: Session): HTMLElement {
  const set = (patch: Partial<Brush>) => store.set({ brush: { ...store.state.brush, ...patch } });
  const kinds = Object.entries(PAINTS).map(([value, { label, hint }]) => ({ value: value as PaintKind, label, hint }));
  const kind = choices<PaintKind>('Paint', kinds, (value) => set({ kind: value }), 'paint-kind');
  const radius = slider({ label: 'Radius', low: 0.01, high: 0.4, step: 0.005, hint: 'Share of the character ([ and ])' }, (value) => set({ radius: value }), 'brush-radius');
  const strength = slider({ label: 'Strength', low: 0.02, high: 1, step: 0.01 }, (value) => set({ strength: value }), 'brush-strength');
  const falloff = slider({ label: 'Falloff', low: 0, high: 1, step: 0.01, hint: '0 is a hard edge' }, (value) => set({ falloff: value }), 'brush-falloff');
  const erase = toggle('Erase', (on) => set({ erase: on }), 'X', 'brush-erase');
  const mirror = toggle('Mirror left and right', (on) => set({ mirror: on }), undefined, 'brush-mirror');
  const clear = textButton('Clear this paint', () => {
    const { settings, brush } = store.state;
    session.change(withPaint(settings, brush.kind, new Float32Array(0)));
  }, 'small', 'clear-paint');
  store.watch(['brush'], ({ brush }) => {
    kind.set(brush.kind);
    radius.set(brush.radius);
    strength.set(brush.strength);
    falloff.set(brush.falloff);
    erase.set(brush.erase);
    mirror.set(brush.mirror);
  });
  return el(
    'div',
    {},
    advice(session, () => PAINTS[store.state.brush.kind].methods, ['brush']),
    ...[kind, radius, strength, falloff, erase, mirror].map((field) => field.element),
    clear,
  );
}

function curvePage(session: Session, tool: CurveTool, name: ToolName, methods: Method[], title: string): HTMLElement {
  const rows = el('div', { class: 'curves' });
  const add = textButton('New', () => tool.finish(), 'small');
  store.watch(['settings', 'character', 'curve', 'tool'], ({ settings, character, curve, tool: inHand }) => {
    if (!character || inHand !== name) return;
    const curves = tool.book.read(settings, character.opened.about);
    rows.replaceChildren(
      ...curves.map(({ points, table }, i) => {
        const label = `${String(table.name ?? table.file ?? `${tool.book.stem} ${i + 1}`)} · ${points.length} points`;
        const choose = el('button', { type: 'button', onclick: () => tool.choose(i) }, label);
        setPressed(choose, i === curve);
        return el('div', { class: 'curve-row' }, choose, iconButton('trash', `Delete ${label}`, () => tool.delete(i)));
      }),
    );
    add.hidden = curve === null;
  });
  return el(
    'div',
    {},
    advice(session, () => methods, []),
    el('p', { class: 'about' }, 'Click points on the skin, drag to move them, Delete takes one away, Enter ends the curve.'),
    section(title, rows, add),
  );
}

function posePage(tools: Tools): HTMLElement {
  const joint = el('p', { class: 'about', id: 'posed-joint' });
  store.watch(['bone', 'character'], ({ bone, character }) => {
    const name = bone === null ? null : character?.opened.about.joints[bone]?.name;
    joint.textContent = name ? `${name}: turn it by the rings.` : 'Click a bone, then turn it by the rings.';
  });
  return el('div', {}, joint, el('div', { class: 'row' }, textButton('Reset the pose', () => tools.pose.reset(), 'small', 'reset-pose')));
}
