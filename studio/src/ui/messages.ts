import type { Work } from '../state/state';
import { iconButton, textButton } from './controls';
import { el } from './dom';

const NOTE_SECONDS = 8;

/** What the page says: errors that stay until dismissed, notes that go, and work that is under way. */
export class Messages {
  readonly element: HTMLElement;
  /** Notes, in a corner of their own. */
  readonly notes = el('div', { class: 'notes', 'aria-live': 'polite' });
  private readonly errors = el('div', { class: 'errors' });
  private readonly label = el('span', { class: 'name' });
  private readonly bar = el('progress', { max: 1, 'aria-label': 'Progress' });
  private readonly workElement: HTMLElement;
  private works = new Map<string, Work>();

  constructor() {
    const cancel = textButton('Cancel', () => this.current()?.cancel(), 'small', 'cancel-work');
    this.workElement = el('div', { class: 'work', id: 'work', role: 'status', hidden: true }, this.label, this.bar, cancel);
    this.element = el('div', { class: 'messages' }, this.errors, this.workElement);
  }

  /** Shows an error until it is dismissed. Takes the place of the one before. */
  error(title: string, text: string, action?: { label: string; run: () => void }): void {
    const dismiss = iconButton('close', 'Dismiss', () => panel.remove());
    const act = action && textButton(action.label, () => { panel.remove(); action.run(); }, 'small');
    const panel = el('div', { class: 'error', role: 'alert' }, el('div', {}, el('strong', {}, title), el('p', {}, text), act ?? null), dismiss);
    this.errors.replaceChildren(panel);
  }

  clearErrors(): boolean {
    const had = this.errors.childElementCount > 0;
    this.errors.replaceChildren();
    return had;
  }

  /** Says something small for a while. */
  note(text: string): void {
    const close = () => note.remove();
    const note = el('div', { class: 'note' }, el('span', {}, text), iconButton('close', 'Dismiss', close));
    this.notes.append(note);
    while (this.notes.childElementCount > 3) this.notes.firstElementChild!.remove();
    setTimeout(close, 1000 * NOTE_SECONDS);
  }

  work(key: string, work: Work | null): void {
    if (work) this.works.set(key, work);
    else this.works.delete(key);
    const current = this.current();
    this.workElement.hidden = !current;
    if (!current) return;
    this.label.textContent = `${current.label}…`;
    this.bar.value = current.share;
  }

  /** Stops the newest work; false where there is none. */
  cancel(): boolean {
    const current = this.current();
    current?.cancel();
    return current !== undefined;
  }

  private current(): Work | undefined {
    return [...this.works.values()].at(-1);
  }
}
