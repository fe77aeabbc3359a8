/** Strokes in a box of 20 by 20. */
const PATHS = {
  open: 'M3 6.5V15a1.5 1.5 0 0 0 1.5 1.5h11A1.5 1.5 0 0 0 17 15V8a1.5 1.5 0 0 0-1.5-1.5H10L8.5 4.5h-4A1.5 1.5 0 0 0 3 6Z',
  gallery: 'M3.5 3.5h5v5h-5zM11.5 3.5h5v5h-5zM3.5 11.5h5v5h-5zM11.5 11.5h5v5h-5z',
  save: 'M10 3v9m0 0 3.5-3.5M10 12 6.5 8.5M4 13v2.5A1.5 1.5 0 0 0 5.5 17h9a1.5 1.5 0 0 0 1.5-1.5V13',
  theme: 'M10 3a7 7 0 1 0 0 14V3Z M10 3a7 7 0 0 1 0 14',
  help: 'M7.5 7.5A2.5 2.5 0 1 1 10.8 9.9c-.6.3-.8.8-.8 1.6M10 14.5v.1',
  play: 'M6.5 4.2v11.6a.6.6 0 0 0 .9.5l9-5.8a.6.6 0 0 0 0-1l-9-5.8a.6.6 0 0 0-.9.5Z',
  pause: 'M7 4v12M13 4v12',
  loop: 'M4 9V8a3 3 0 0 1 3-3h8m0 0-2.5-2.5M15 5l-2.5 2.5M16 11v1a3 3 0 0 1-3 3H5m0 0 2.5 2.5M5 15l2.5-2.5',
  first: 'M5 4v12M15 5l-7 5 7 5Z',
  last: 'M15 4v12M5 5l7 5-7 5Z',
  split: 'M3 4.5h14v11H3zM10 4.5v11',
  frame: 'M4 7V4h3M13 4h3v3M16 13v3h-3M7 16H4v-3M8 10h4M10 8v4',
  panel: 'M3 4.5h14v11H3zM12.5 4.5v11',
  close: 'M5 5l10 10M15 5 5 15',
  undo: 'M4 8h8a4 4 0 0 1 0 8H8M4 8l3.5-3.5M4 8l3.5 3.5',
  redo: 'M16 8H8a4 4 0 0 0 0 8h4M16 8l-3.5-3.5M16 8l-3.5 3.5',
  look: 'M4 3.5 16 9l-5 1.8L9 16Z',
  brush: 'M16.5 3.5 9 11M8 12c-2 0-3 1.2-3 3 0 .8-.6 1.5-1.5 1.5 3 .8 6-.2 6-2.7A1.8 1.8 0 0 0 8 12Z',
  fibre: 'M3 15C6 15 6 5 10 5s4 10 7 10M3 15h.1M10 5h.1M17 15h.1',
  muscle: 'M3 16c2-7 5-11 7-11s5 4 7 11M5.5 10.5c2 3 7 3 9 0',
  pose: 'M10 3.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6ZM10 7v5M5 9l5-1.5L15 9M10 12l-3 5M10 12l3 5',
  trash: 'M4 6h12M8 6V4h4v2M6 6l.7 10h6.6L14 6',
  plus: 'M10 4v12M4 10h12',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  link: 'M8.5 11.5l3-3M9 6l1.5-1.5a3.2 3.2 0 0 1 4.5 4.5L13.5 10.500M11 14l-1.5 1.500A3.2 3.2 0 0 1 5 11L6.5 9.5',
  camera: 'M3 7h3l1.5-2h5L14 7h3v9H3zM10 9a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5Z',
} as const;

export type IconName = keyof typeof PATHS;

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 20 20');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', PATHS[name]);
  svg.append(path);
  return svg;
}
