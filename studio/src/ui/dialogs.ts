import type { Mapping } from '../engine/protocol';
import { iconButton, textButton } from './controls';
import { el } from './dom';

/** A dialog with a title, which Esc and a click beside it close. */
function dialog(id: string, title: string, ...content: (Node | string | null)[]): HTMLDialogElement {
  document.getElementById(id)?.remove();
  const element = el(
    'dialog',
    { id, 'aria-label': title },
    el('header', {}, el('h2', {}, title), iconButton('close', 'Close', () => element.close())),
    el('div', { class: 'content' }, ...content),
  );
  element.onclose = () => element.remove();
  element.onclick = (event) => {
    if (event.target === element) element.close();
  };
  document.body.append(element);
  element.showModal();
  return element;
}

const SHORTCUTS: [keys: string, what: string][] = [
  ['Space', 'play or pause'], ['← →', 'a frame back or on'], ['Home End', 'start or end of the clip'], ['L', 'loop'],
  ['1 – 7', 'methods'], ['H', 'next heat map'], ['W', 'wire'], ['K', 'skeleton'], ['S', 'split view A | B'],
  ['F', 'frame the character'], ['B', 'brush'], ['[ ]  X', "brush: size, erase"], ['C', 'fibres'], ['M', 'muscles'],
  ['P', 'pose'], ['V', 'look'], ['Ctrl+Z', 'undo'], ['Ctrl+Shift+Z', 'redo'], ['T', 'side panel'], ['?', 'this sheet'], ['Esc', 'close, cancel, put the tool away'],
];

export function showShortcuts(): void {
  const rows = SHORTCUTS.flatMap(([keys, what]) => [
    el('dt', {}, ...keys.split(' ').filter((key) => key).map((key) => el('kbd', {}, key))),
    el('dd', {}, what),
  ]);
  dialog(
    'help',
    'Keys and files',
    el('dl', { class: 'shortcuts' }, ...rows),
    el('p', { class: 'about' }, 'Drop a .glb, .gltf, .vrm or .obj with its skeleton, or a folder of them, anywhere. A .bvh moves the character that is open; a .toml is settings for it. Nothing leaves this machine.'),
  );
}

/** How a recording came onto the character. */
export function showMapping(name: string, mapping: Mapping, openAlone: () => void): void {
  const rate = mapping.fps === null ? '' : ` at ${Math.round(mapping.fps)} frames a second`;
  const words = `${mapping.frames} frames${rate}, ${mapping.seconds.toFixed(1)} s. ${mapping.joints.length} joints follow it${mapping.unmoved.length > 0 ? `, ${mapping.unmoved.length} keep their pose` : ''}.`;
  const rows = mapping.joints.flatMap(({ motion, character }) => [el('span', {}, motion), el('span', { class: 'fine' }, '→'), el('span', {}, character)]);
  const some = (title: string, names: string[]) => (names.length > 0 ? el('p', { class: 'fine' }, `${title}: ${names.join(', ')}`) : null);
  const element = dialog(
    'mapping',
    `${name} on this character`,
    el('p', {}, words),
    el('div', { class: 'mapping' }, ...rows),
    some('Not used of the recording', mapping.unused),
    some('Not moved of the character', mapping.unmoved),
    el(
      'div',
      { class: 'actions' },
      textButton('Open as stick figure instead', () => { element.close(); openAlone(); }),
      textButton('Good', () => element.close(), 'accent'),
    ),
  );
}

/** Asks for the output format of a bake. */
export function showExport(clip: string, begin: (format: 'glb' | 'pc2', fps: number | undefined) => void): void {
  const rate = el('input', { type: 'number', min: '1', max: '240', placeholder: 'as recorded, or 30', 'aria-label': 'Frames a second', id: 'export-fps' });
  const start = (format: 'glb' | 'pc2') => {
    element.close();
    begin(format, rate.value ? Number(rate.value) : undefined);
  };
  const element = dialog(
    'export',
    'Export what moves',
    el('p', {}, `Bakes ${clip} by this method with these settings.`),
    el('label', { class: 'field' }, el('span', {}, 'Frames a second'), rate),
    el('p', { class: 'fine' }, 'GLB: the character as it came, moved by morph targets, for any player. PC2: point caches for Blender, 3ds Max and others.'),
    el(
      'div',
      { class: 'actions' },
      textButton('Point cache (.pc2)', () => start('pc2'), '', 'export-pc2'),
      textButton('GLB', () => start('glb'), 'accent', 'export-glb'),
    ),
  );
}

/** Text for the user to take by hand, where the browser gives no clipboard. */
export function showText(title: string, text: string): void {
  const field = el('input', { type: 'text', value: text, readOnly: true, style: 'width: 100%', 'aria-label': title });
  dialog('text', title, field);
  field.select();
}
