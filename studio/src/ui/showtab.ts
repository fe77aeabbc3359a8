import type { DrawingKind, Heat } from '../engine/protocol';
import { store } from '../state/state';
import { choices, type Field, section, slider, toggle } from './controls';
import { el } from './dom';

export const HEATS: { value: Heat; label: string; hint: string }[] = [
  { value: 'stretch', label: 'Stretch', hint: 'How much longer or shorter edges are than at rest' },
  { value: 'volume', label: 'Volume', hint: 'How much the volume below each place has changed' },
  { value: 'softness', label: 'Softness', hint: 'How far flesh follows its own inertia' },
  { value: 'residual', label: 'Residual', hint: 'What the solver has left undone' },
];
const DRAWINGS: { value: DrawingKind; label: string; hint: string }[] = [
  { value: 'tets', label: 'Tets', hint: 'The body cut open' },
  { value: 'layers', label: 'Layers', hint: 'The order from the bones outwards' },
  { value: 'pins', label: 'Pins', hint: 'Flesh that bones hold' },
  { value: 'frames', label: 'Frames', hint: 'The axes of the flesh' },
  { value: 'balls', label: 'Balls', hint: 'What fills the body, and its springs' },
];

/** Heat maps and overlays: those that the method has. */
export function showTab(): HTMLElement {
  const heat = el('div');
  const drawing = el('div');
  const cut = slider({ label: 'Cut away', low: 0, high: 1, step: 0.01 }, (value) => store.set({ cut: value }), 'cut');
  const wire = toggle('Wire', (on) => store.set({ wire: on }), 'W', 'wire');
  const skeleton = toggle('Skeleton', (on) => store.set({ skeleton: on }), 'K', 'skeleton');
  const skin = toggle('Skin', (on) => store.set({ skin: on }), undefined, 'skin');
  const notes = el('p', { class: 'fine' }, 'This method has nothing under the skin. Soft body, Fibres and Metaballs have.');

  let heatField: Field<Heat | null>;
  let drawingField: Field<DrawingKind | null>;
  store.watch(['prepared'], ({ prepared }) => {
    const off = { value: null, label: 'Off' };
    const heats = HEATS.filter(({ value }) => prepared?.heats.includes(value));
    const drawings = DRAWINGS.filter(({ value }) => prepared?.drawings.includes(value));
    heatField = choices<Heat | null>('', [off, ...heats], (value) => store.set({ heat: value }), 'heats');
    drawingField = choices<DrawingKind | null>('', [off, ...drawings], (value) => store.set({ drawing: value }), 'drawings');
    heat.replaceChildren(heatField.element);
    drawing.replaceChildren(drawingField.element);
    notes.hidden = drawings.length > 0;
  });
  store.watch(['prepared', 'heat', 'drawing'], (state) => {
    heatField.set(state.heat);
    drawingField.set(state.drawing);
    cut.element.hidden = state.drawing !== 'tets' && state.drawing !== 'layers';
  });
  store.watch(['cut', 'wire', 'skeleton', 'skin'], (state) => {
    cut.set(state.cut);
    wire.set(state.wire);
    skeleton.set(state.skeleton);
    skin.set(state.skin);
  });
  return el(
    'div',
    { class: 'tab' },
    section('Heat map', heat),
    section('Under the skin', drawing, cut.element, notes),
    section('Over it', wire.element, skeleton.element, skin.element),
  );
}
