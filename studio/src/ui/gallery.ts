import type { Sample } from '../engine/protocol';
import { store } from '../state/state';
import { el } from './dom';

/** The sample characters, to open with one click. */
export function gallery(open: (sample: Sample) => void): HTMLElement {
  const list = el('div', { class: 'cards' });
  const element = el('nav', { class: 'gallery', id: 'gallery', 'aria-label': 'Sample characters' }, list);
  store.watch(['samples'], ({ samples }) => {
    list.replaceChildren(
      ...samples.map((sample) =>
        el(
          'button',
          { type: 'button', class: 'card', 'data-sample': sample.name, title: `${sample.name}: ${sample.about}`, onclick: () => open(sample) },
          el('img', { src: `gallery/${sample.name}.webp`, alt: '', width: 64, height: 64, decoding: 'async' }),
          el('span', {}, sample.name),
        ),
      ),
    );
  });
  store.watch(['character', 'samples'], ({ character }) => {
    const source = character?.source;
    const shown = source && 'sample' in source ? source.sample : null;
    for (const card of list.children) {
      if (card instanceof HTMLElement) card.setAttribute('aria-current', String(card.dataset.sample === shown));
    }
  });
  store.watch(['galleryOpen'], ({ galleryOpen }) => (element.hidden = !galleryOpen));
  return element;
}
