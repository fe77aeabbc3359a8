import type { HeatScale } from '../engine/protocol';
import { heatGradient } from '../scene/heat';
import { el } from './dom';

/** How to read the colours, in a corner of the view. */
export class Legend {
  private readonly title = el('span', { class: 'name' });
  private readonly bar = el('div', { class: 'ramp' });
  private readonly marks = el('div', { class: 'marks' });
  readonly element = el('div', { class: 'legend', id: 'legend', hidden: true }, this.title, this.bar, this.marks);

  show(scale: HeatScale | null): void {
    this.element.hidden = scale === null;
    if (!scale) return;
    const { unit } = scale;
    // Shares are read as percent.
    const times = unit === '%' ? 100 : 1;
    const [low, neutral, high] = [times * scale.low, times * scale.neutral, times * scale.high];
    this.title.textContent = scale.title;
    this.bar.style.background = heatGradient(scale);
    const values = low < neutral ? [low, neutral, high] : [neutral, high];
    this.marks.replaceChildren(...values.map((value) => el('span', {}, `${digits(value, high - low)}${unit}`)));
  }
}

/** A number with the digits that matter over a span. */
function digits(value: number, span: number): string {
  const wide = Math.abs(span);
  if (!(wide >= 1e-4 && wide < 1e6)) return value.toExponential(1);
  return value.toFixed(Math.min(6, Math.max(0, Math.ceil(2 - Math.log10(wide)) - (wide >= 10 ? 1 : 0))));
}
