import type { Frame, Milliseconds } from '../engine/protocol';
import { el } from './dom';

const KEPT = 160;
type Stage = Exclude<keyof Milliseconds, 'total'>;
const STAGES: { key: Stage; label: string; colour: string }[] = [
  { key: 'skin', label: 'skin', colour: '#5b8def' },
  { key: 'solve', label: 'solve', colour: '#2fb8a6' },
  { key: 'embed', label: 'embed', colour: '#e0a84c' },
  { key: 'filter', label: 'filter', colour: '#b583e0' },
  { key: 'overlap', label: 'overlap', colour: '#e0737b' },
];
/** Colours of the two halves of a split view. */
const SIDES = ['#2fb8a6', '#e0a84c'];

/** Live curves of the volume error and of the milliseconds that each stage takes. */
export class Charts {
  readonly element: HTMLElement;
  private readonly volume = new Plot();
  private readonly times = new Plot();
  private readonly volumeText = el('output', { class: 'value', id: 'volume-error' });
  private readonly timeText = el('output', { class: 'value', id: 'step-time' });
  private errors: (number | null)[][] = [];
  private stages: Milliseconds[] = [];
  private due = false;

  constructor() {
    const legend = STAGES.map(({ label, colour }) => el('span', { class: 'key', style: `--colour: ${colour}` }, label));
    this.element = el(
      'section',
      { class: 'charts', 'aria-label': 'Live numbers' },
      chart('Volume', this.volumeText, this.volume.canvas),
      chart('Step', this.timeText, this.times.canvas),
      el('div', { class: 'keys' }, ...legend),
    );
  }

  clear(): void {
    this.errors = [];
    this.stages = [];
  }

  add(frames: Frame[]): void {
    this.errors.push(frames.map((frame) => frame.numbers.volumeErrorPercent));
    this.stages.push(frames[0]!.numbers.milliseconds);
    if (this.errors.length > KEPT) this.errors.shift();
    if (this.stages.length > KEPT) this.stages.shift();
    if (this.due) return;
    this.due = true;
    // Read at a glance: ten pictures a second do.
    setTimeout(() => this.draw(), 100);
  }

  private draw(): void {
    this.due = false;
    const last = this.errors.at(-1) ?? [];
    this.volumeText.textContent = last.map((error) => (error === null ? '–' : `${error.toFixed(last.length > 1 ? 1 : 2)} %`)).join(' | ');
    const total = this.stages.at(-1)?.total ?? 0;
    this.timeText.textContent = `${total.toFixed(1)} ms`;
    const most = Math.max(1, ...this.errors.flat().map((error) => Math.abs(error ?? 0)));
    this.volume.start();
    this.volume.rule(0.5);
    for (let side = 0; side < last.length; side++) {
      const line = this.errors.map((errors) => (errors[side] === null || errors[side] === undefined ? null : 0.5 + (0.46 * errors[side]!) / most));
      this.volume.line(line, SIDES[side]!);
    }
    this.volume.text(`±${most.toFixed(most < 10 ? 1 : 0)} %`);
    const slowest = Math.max(2, ...this.stages.map((stage) => stage.total));
    this.times.start();
    const base = this.stages.map(() => 0);
    for (const { key, colour } of STAGES) {
      const top = this.stages.map((stage, i) => base[i]! + stage[key] / slowest);
      this.times.band(base, top, colour);
      top.forEach((value, i) => (base[i] = value));
    }
    this.times.text(`${slowest.toFixed(0)} ms`);
  }
}

function chart(name: string, value: HTMLElement, canvas: HTMLElement): HTMLElement {
  return el('div', {}, el('div', { class: 'chart-head' }, el('span', { class: 'name' }, name), value), canvas);
}

/** A canvas with shares from 0 (low) to 1 (high) over the last frames. */
class Plot {
  readonly canvas = el('canvas', { class: 'plot', 'aria-hidden': 'true' });
  private readonly context = this.canvas.getContext('2d')!;
  private width = 1;
  private height = 1;

  start(): void {
    const ratio = Math.min(devicePixelRatio, 2);
    this.width = Math.max(1, this.canvas.clientWidth);
    this.height = Math.max(1, this.canvas.clientHeight);
    const [w, h] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== h) [this.canvas.width, this.canvas.height] = [w, h];
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, this.width, this.height);
  }

  rule(share: number): void {
    this.context.fillStyle = this.ink(0.25);
    this.context.fillRect(0, Math.round(this.y(share)), this.width, 1);
  }

  line(shares: (number | null)[], colour: string): void {
    this.context.beginPath();
    let pen = false;
    shares.forEach((share, i) => {
      if (share === null) return void (pen = false);
      if (pen) this.context.lineTo(this.x(i, shares.length), this.y(share));
      else this.context.moveTo(this.x(i, shares.length), this.y(share));
      pen = true;
    });
    this.context.strokeStyle = colour;
    this.context.lineWidth = 1.5;
    this.context.stroke();
  }

  band(base: number[], top: number[], colour: string): void {
    this.context.beginPath();
    top.forEach((share, i) => this.context.lineTo(this.x(i, top.length), this.y(share)));
    for (let i = base.length - 1; i >= 0; i--) this.context.lineTo(this.x(i, base.length), this.y(base[i]!));
    this.context.fillStyle = colour;
    this.context.fill();
  }

  text(text: string): void {
    this.context.font = '10px system-ui, sans-serif';
    this.context.textAlign = 'right';
    this.context.fillStyle = this.ink(0.6);
    this.context.fillText(text, this.width - 3, 11);
  }

  private ink(alpha: number): string {
    return getComputedStyle(this.canvas).color.replace('rgb(', 'rgba(').replace(')', `, ${alpha})`);
  }

  private x(i: number, count: number): number {
    return this.width - ((count - 1 - i) * this.width) / (KEPT - 1);
  }

  private y(share: number): number {
    return this.height * (1 - share);
  }
}
