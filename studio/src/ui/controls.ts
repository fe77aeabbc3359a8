import { el, short } from './dom';
import { icon, type IconName } from './icons';

/** A button with a picture, whose name is read aloud and shown as a tip with its key. */
export function iconButton(name: IconName, label: string, onclick: () => void, key = '', id?: string): HTMLButtonElement {
  const title = key ? `${label} (${key})` : label;
  return el('button', { type: 'button', class: 'icon-button', title, 'aria-label': label, onclick, id }, icon(name));
}

export function textButton(text: string, onclick: () => void, kind = '', id?: string): HTMLButtonElement {
  return el('button', { type: 'button', class: `button ${kind}`, onclick, id }, text);
}

/** A control that shows a value and tells when the user changes it. */
export interface Field<T> {
  element: HTMLElement;
  set(value: T): void;
}

export interface SliderSpec {
  label: string;
  low: number;
  high: number;
  step: number;
  unit?: string;
  hint?: string;
  /** Slides over powers of ten. */
  logarithmic?: boolean;
}

export function slider(spec: SliderSpec, change: (value: number) => void, id?: string): Field<number> {
  const to = spec.logarithmic ? Math.log10 : (x: number) => x;
  const from = (x: number) => (spec.logarithmic ? Math.round(10 ** x / spec.step) * spec.step : x);
  const say = (value: number) => `${short(value, 4)}${spec.unit ?? ''}`;
  const output = el('output', { class: 'value' });
  const input = el('input', {
    type: 'range', id, min: String(to(spec.low)), max: String(to(spec.high)), step: spec.logarithmic ? '0.01' : String(spec.step),
    'aria-label': spec.label, title: spec.hint,
  });
  const tell = (value: number) => {
    output.textContent = say(value);
    input.setAttribute('aria-valuetext', say(value));
    const share = (Number(input.value) - Number(input.min)) / (Number(input.max) - Number(input.min));
    input.style.setProperty('--share', `${100 * share}%`);
  };
  input.oninput = () => {
    const value = from(Number(input.value));
    tell(value);
    change(value);
  };
  const element = el('label', { class: 'field slider', title: spec.hint }, el('span', { class: 'name' }, spec.label), output, input);
  return {
    element,
    set(value) {
      input.value = String(to(value));
      tell(value);
    },
  };
}

export function toggle(label: string, change: (on: boolean) => void, hint?: string, id?: string): Field<boolean> {
  const input = el('input', { type: 'checkbox', role: 'switch', 'aria-label': label, id });
  input.onchange = () => change(input.checked);
  const element = el('label', { class: 'field switch', title: hint }, el('span', { class: 'name' }, label), input);
  return { element, set: (on) => (input.checked = on) };
}

export interface Choice<T> {
  value: T;
  label: string;
  hint?: string;
}

/** One of a few, side by side. */
export function choices<T>(label: string, options: Choice<T>[], change: (value: T) => void, id?: string): Field<T> {
  const buttons = options.map((option) =>
    el('button', { type: 'button', class: 'chip', role: 'radio', title: option.hint, onclick: () => change(option.value) }, option.label),
  );
  const group = el('div', { class: 'chips', role: 'radiogroup', 'aria-label': label, id }, ...buttons);
  const element = el('div', { class: 'field choices' }, label ? el('span', { class: 'name' }, label) : null, group);
  return {
    element,
    set(value) {
      options.forEach((option, i) => buttons[i]!.setAttribute('aria-checked', String(option.value === value)));
    },
  };
}

export function section(title: string, ...children: (Node | null)[]): HTMLElement {
  return el('section', { class: 'group' }, el('h3', {}, title), ...children);
}
