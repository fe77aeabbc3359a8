import type { Session } from '../play/session';
import { write, writeAll } from '../state/settings';
import { type Method, METHODS, methodOf, store } from '../state/state';
import { choices, type Field, section, slider, textButton, toggle } from './controls';
import { el } from './dom';
import { type FieldSpec, METHOD_SPECS } from './methods';

/** The method picker with presets and the numbers of the method that is chosen. */
export function methodTab(session: Session): HTMLElement {
  const cards = METHODS.map((name, i) => {
    const { title, about } = METHOD_SPECS[name];
    return el(
      'button',
      { type: 'button', class: 'method', role: 'radio', 'data-method': name, title: about, onclick: () => pickMethod(session, name) },
      el('span', { class: 'title' }, title),
      el('kbd', { 'aria-hidden': 'true' }, String(i + 1)),
    );
  });
  const picker = el('div', { class: 'methods', role: 'radiogroup', 'aria-label': 'Method' }, ...cards);
  const about = el('p', { class: 'about' });
  const numbers = el('div', { id: 'method-numbers' });
  const figures = el('p', { class: 'fine', id: 'prepared' });

  let shown: Method | null = null;
  let fields: { spec: FieldSpec; field: Field<never> }[] = [];
  store.watch(['settings', 'prepared'], ({ settings, prepared, preparedWith }) => {
    const method = methodOf(settings);
    cards.forEach((card) => card.setAttribute('aria-checked', String(card.dataset.method === method)));
    about.textContent = METHOD_SPECS[method].about;
    if (method !== shown) {
      shown = method;
      fields = METHOD_SPECS[method].fields.map((spec) => ({ spec, field: makeField(session, spec) }));
      numbers.replaceChildren(...presetsOf(session, method), ...fields.map(({ field }) => field.element));
    }
    const filled = prepared?.settings ?? {};
    for (const { spec, field } of fields) {
      // What was set when it was prepared is no default.
      const usual = (spec.get(preparedWith) ?? undefined) === undefined ? spec.get(filled) : undefined;
      field.set((spec.get(settings) ?? usual ?? spec.otherwise) as never);
    }
    figures.textContent = prepared ? inWords(prepared) : '';
  });
  return el('div', { class: 'tab' }, section('Method', picker, about), numbers, figures);
}

/** Changes the method, and keeps all else that is set. */
export function pickMethod(session: Session, name: Method): void {
  const { settings } = store.state;
  if (methodOf(settings) !== name) session.change(write(settings, 'method', name));
}

function presetsOf(session: Session, method: Method): HTMLElement[] {
  const { presets } = METHOD_SPECS[method];
  if (presets.length === 0) return [];
  const buttons = presets.map(({ label, hint, values }) => {
    const button = textButton(label, () => session.change(writeAll(store.state.settings, values)), 'chip');
    button.title = hint;
    return button;
  });
  const row = el('div', { class: 'chips', role: 'group', 'aria-label': 'Presets' }, ...buttons);
  return [el('div', { class: 'field choices' }, el('span', { class: 'name' }, 'Presets'), row)];
}

function makeField(session: Session, spec: FieldSpec): Field<never> {
  const now = () => store.state.settings;
  if (spec.kind === 'slider') {
    const filled = () => store.state.prepared?.settings ?? {};
    return slider(spec, (value) => session.change(spec.put(now(), value, filled()), spec.label)) as Field<never>;
  }
  if (spec.kind === 'toggle') return toggle(spec.label, (on) => session.change(spec.put(now(), on)), spec.hint) as Field<never>;
  return choices(spec.label, spec.options, (value) => session.change(spec.put(now(), value))) as Field<never>;
}

function inWords(prepared: { tets: number; balls: number; milliseconds: number }): string {
  const parts = [];
  if (prepared.tets > 0) parts.push(`${prepared.tets.toLocaleString('en')} tets`);
  if (prepared.balls > 0) parts.push(`${prepared.balls.toLocaleString('en')} balls`);
  parts.push(`prepared in ${prepared.milliseconds < 1000 ? `${Math.round(prepared.milliseconds)} ms` : `${(prepared.milliseconds / 1000).toFixed(1)} s`}`);
  return parts.join(' · ');
}
