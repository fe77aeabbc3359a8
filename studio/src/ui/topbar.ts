import { store, type Theme } from '../state/state';
import { iconButton } from './controls';
import { el, setPressed } from './dom';
import { icon, type IconName } from './icons';

/** What the bar's buttons do. */
export interface TopActions {
  open(): void;
  openFolder(): void;
  saveSettings(): void;
  loadSettings(): void;
  export(): void;
  picture(): void;
  copyCommand(): void;
  copyLink(): void;
  split(): void;
  frame(): void;
  help(): void;
}

export function topbar(actions: TopActions): HTMLElement {
  const open = el('button', { type: 'button', class: 'button accent', id: 'open', title: 'Open a character', onclick: actions.open }, icon('open'), el('span', { class: 'wide' }, 'Open'));
  const galleryButton = iconButton('gallery', 'Gallery', () => store.set({ galleryOpen: !store.state.galleryOpen }), '', 'gallery-toggle');
  const split = iconButton('split', 'Split view A | B', actions.split, 'S', 'split');
  const panelButton = iconButton('panel', 'Side panel', () => store.set({ panelOpen: !store.state.panelOpen }), 'T', 'panel-toggle');
  const about = el('p', { class: 'about-character', id: 'about' });
  const save = el('button', { type: 'button', class: 'button', id: 'save', 'aria-haspopup': 'menu', 'aria-expanded': 'false' }, icon('save'), el('span', { class: 'wide' }, 'Save'));
  save.onclick = () =>
    menu(save, [
      ['save', 'Export GLB or PC2…', actions.export, 'export'],
      ['camera', 'Picture (PNG)', actions.picture, 'picture'],
      null,
      ['save', 'Save settings (.toml)', actions.saveSettings, 'save-settings'],
      ['open', 'Load settings…', actions.loadSettings, 'load-settings'],
      null,
      ['copy', 'Copy the command', actions.copyCommand, 'copy-command'],
      ['link', 'Copy a link', actions.copyLink, 'copy-link'],
    ]);
  store.watch(['character'], ({ character }) => {
    if (!character) return;
    const { name, vertices, joints } = character.opened.about;
    about.replaceChildren(el('strong', {}, name), ` · ${vertices.toLocaleString('en')} vertices · ${joints.length} joints`);
    about.title = character.opened.about.weights;
  });
  store.watch(['galleryOpen', 'split', 'panelOpen'], (state) => {
    setPressed(galleryButton, state.galleryOpen);
    setPressed(split, state.split !== null);
    setPressed(panelButton, state.panelOpen);
  });
  return el(
    'header',
    { class: 'topbar' },
    el('span', { class: 'brand' }, logo(), 'Pliant'),
    open,
    iconButton('plus', 'Open a folder', actions.openFolder, '', 'open-folder'),
    galleryButton,
    about,
    split,
    iconButton('frame', 'Frame the character', actions.frame, 'F', 'frame'),
    el('span', { class: 'divider' }),
    save,
    iconButton('theme', 'Light or dark', () => store.set({ theme: otherTheme() }), '', 'theme'),
    iconButton('help', 'Keys and files', actions.help, '?', 'help-button'),
    panelButton,
  );
}

function logo(): SVGSVGElement {
  const svg = icon('fibre');
  svg.setAttribute('viewBox', '0 0 32 32');
  svg.firstElementChild!.setAttribute('d', 'M9 28C7 14 8 5 16 5s10 9 6 15-10 2-8-4');
  svg.style.stroke = 'var(--accent)';
  svg.style.strokeWidth = '4';
  return svg;
}

/** Whether the page is dark now, by wish or by system. */
export function isDark(theme: Theme): boolean {
  return theme === 'auto' ? !matchMedia('(prefers-color-scheme: light)').matches : theme === 'dark';
}

const THEME_KEY = 'pliant-theme';

/** The theme that was chosen on the last visit. Browsers may forbid to keep anything. */
export function rememberedTheme(): Theme {
  try {
    const theme = localStorage.getItem(THEME_KEY);
    return theme === 'light' || theme === 'dark' ? theme : 'auto';
  } catch {
    return 'auto';
  }
}

export function rememberTheme(theme: Theme): void {
  try {
    if (theme !== 'auto') localStorage.setItem(THEME_KEY, theme);
  } catch {
    // Then it is chosen anew next time.
  }
}

function otherTheme(): Theme {
  return isDark(store.state.theme) ? 'light' : 'dark';
}

type Item = [picture: IconName, label: string, run: () => void, id: string] | null;

/** A menu under a button, with the arrow keys, Esc and clicks elsewhere. */
function menu(button: HTMLElement, items: Item[]): void {
  const open = document.querySelector('.menu');
  if (open) {
    open.dispatchEvent(new Event('close'));
    return;
  }
  const entries = items.map((item) => {
    if (!item) return el('hr');
    const [picture, label, run, id] = item;
    return el('button', { type: 'button', role: 'menuitem', id, onclick: () => { close(); run(); } }, icon(picture), label);
  });
  const box = button.getBoundingClientRect();
  const element = el('div', { class: 'menu', role: 'menu', 'aria-label': button.textContent ?? '' }, ...entries);
  element.style.top = `${box.bottom + 6}px`;
  element.style.right = `${Math.max(8, innerWidth - box.right)}px`;
  const close = () => {
    element.remove();
    button.setAttribute('aria-expanded', 'false');
    document.removeEventListener('pointerdown', outside, true);
  };
  const outside = (event: Event) => {
    if (!element.contains(event.target as Node) && !button.contains(event.target as Node)) close();
  };
  element.addEventListener('close', close);
  element.onkeydown = (event) => {
    const all = [...element.querySelectorAll('button')];
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    if (event.key === 'Escape') {
      close();
      button.focus();
    } else if (event.key === 'ArrowDown') all[(at + 1) % all.length]!.focus();
    else if (event.key === 'ArrowUp') all[(at - 1 + all.length) % all.length]!.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener('pointerdown', outside, true);
  document.body.append(element);
  button.setAttribute('aria-expanded', 'true');
  element.querySelector('button')?.focus();
}
