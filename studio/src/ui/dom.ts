type Child = Node | string | null | undefined | false;
type Props = Record<string, unknown>;

/** An element with properties, attributes (`aria-label`, `data-...`, `role`), listeners (`onclick`) and children. */
export function el<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null) continue;
    if (key === 'class') element.className = String(value);
    else if (key in element && !key.includes('-')) (element as unknown as Props)[key] = value;
    else element.setAttribute(key, String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false));
  return element;
}

/** Puts an attribute on, or takes it off. */
export function setPressed(button: HTMLElement, pressed: boolean): void {
  button.setAttribute('aria-pressed', String(pressed));
}

/** A number in few digits: 0.5, 12.3, 8000. */
export function short(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return '–';
  if (value !== 0 && Math.abs(value) < 10 ** -digits) return value.toExponential(1);
  return String(Number(value.toPrecision(digits)));
}
