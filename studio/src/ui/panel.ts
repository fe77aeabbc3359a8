import { store } from '../state/state';
import { el } from './dom';

/** Tabs at the right, and what is below all of them. */
export function panel(tabs: { name: string; label: string; body: HTMLElement }[], below: HTMLElement): HTMLElement {
  const buttons = tabs.map(({ name, label }, i) =>
    el('button', { type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': `panel-${name}`, onclick: () => show(i) }, label),
  );
  const bodies = tabs.map(({ name, body }) =>
    el('div', { class: 'tab-body', role: 'tabpanel', id: `panel-${name}`, 'aria-labelledby': `tab-${name}` }, body),
  );
  const show = (shown: number) => {
    buttons.forEach((button, i) => {
      button.setAttribute('aria-selected', String(i === shown));
      button.tabIndex = i === shown ? 0 : -1;
      bodies[i]!.hidden = i !== shown;
    });
  };
  const list = el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Panel' }, ...buttons);
  list.onkeydown = (event) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const at = buttons.findIndex((button) => button.getAttribute('aria-selected') === 'true');
    const next = (at + step + buttons.length) % buttons.length;
    show(next);
    buttons[next]!.focus();
    event.stopPropagation();
  };
  show(0);
  // A tool that is taken in hand shows what can be set of it.
  store.on(['tool'], ({ tool }) => {
    if (tool !== 'look') show(tabs.findIndex(({ name }) => name === 'tools'));
  });
  const element = el('aside', { class: 'panel', id: 'panel', 'aria-label': 'Settings' }, list, ...bodies, below);
  store.watch(['panelOpen'], ({ panelOpen }) => (element.hidden = !panelOpen));
  return element;
}
