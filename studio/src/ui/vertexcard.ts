import type { VertexNumbers } from '../engine/protocol';
import { iconButton } from './controls';
import { el, short } from './dom';

/** The numbers of the vertex that was clicked. */
export class VertexCard {
  readonly element = el('aside', { class: 'vertex-card', id: 'vertex-card', 'aria-label': 'Vertex', hidden: true });

  constructor(private readonly closed: () => void) {}

  show(numbers: VertexNumbers): void {
    const percent = (share: number | null) => (share === null ? '–' : `${(100 * share).toFixed(1)} %`);
    const place = (at: number[]) => at.map((x) => short(x)).join('  ');
    const row = (name: string, value: string) => [el('dt', {}, name), el('dd', {}, value)];
    const weights = numbers.weights.map(({ joint, weight }) =>
      el('div', { class: 'weight', style: `--share: ${100 * weight}%` }, el('span', {}, joint), el('span', {}, weight.toFixed(3))),
    );
    this.element.replaceChildren(
      el('header', {}, el('strong', {}, `Vertex ${numbers.index}`), el('span', { class: 'fine' }, numbers.part), iconButton('close', 'Close', () => this.hide())),
      el(
        'dl',
        {},
        ...row('Position', place(numbers.position)),
        ...row('At rest', place(numbers.rest)),
        ...row('Stretch', percent(numbers.stretch)),
        ...row('Volume', percent(numbers.volume)),
        ...row('Softness', numbers.softness === null ? '–' : numbers.softness.toFixed(2)),
      ),
      ...weights,
    );
    this.element.hidden = false;
  }

  get shown(): boolean {
    return !this.element.hidden;
  }

  hide(): void {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.closed();
  }
}
