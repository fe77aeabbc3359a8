import { Mesh, MeshBasicMaterial, Quaternion, RingGeometry, Vector3 } from 'three';
import type { Hit } from '../scene/pick';
import type { Aim } from '../scene/stage';
import { store } from '../state/state';
import { dab, paintOf, PAINTS, withPaint } from './paint';
import { hitOf, type Tool, type Workbench } from './tool';

/** Paints softness, fat or the correction map on the skin. One stroke is one step of the history. */
export class BrushTool implements Tool {
  private readonly ring = new Mesh(
    new RingGeometry(0.955, 1, 64),
    new MeshBasicMaterial({ color: 0x35c4b1, depthTest: false, transparent: true, opacity: 0.95, toneMapped: false }),
  );
  private stroke: { values: Float32Array; before: Float32Array; done: Float32Array } | null = null;
  private unwatch: (() => void) | null = null;

  constructor(private readonly bench: Workbench) {
    this.ring.visible = false;
    this.ring.renderOrder = 20;
    bench.stage.scene.add(this.ring);
  }

  start(): void {
    this.unwatch = store.watch(['settings', 'brush', 'character'], () => this.showPaint());
  }

  stop(): void {
    this.unwatch?.();
    this.ring.visible = false;
    this.stroke = null;
    for (const figure of this.bench.stage.figures) {
      figure.paint = null;
      figure.restyle();
    }
    this.bench.stage.redraw();
  }

  down(aim: Aim): boolean {
    const found = hitOf(this.bench, aim);
    if (!found) return false;
    const { brush, settings } = store.state;
    const before = paintOf(settings, brush.kind, found.opened.about.vertices);
    this.stroke = { values: before.slice(), before, done: new Float32Array(before.length) };
    this.paint(found.hit);
    return true;
  }

  move(aim: Aim, _event: PointerEvent, pressed: boolean): void {
    const found = hitOf(this.bench, aim);
    this.ring.visible = found !== null;
    this.bench.stage.redraw();
    if (!found) return;
    this.ring.position.copy(found.hit.position);
    this.ring.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), found.hit.normal));
    this.ring.scale.setScalar(this.radius());
    if (pressed && this.stroke) this.paint(found.hit);
  }

  up(): void {
    const { stroke } = this;
    this.stroke = null;
    if (!stroke) return;
    const { settings, brush } = store.state;
    this.bench.session.change(withPaint(settings, brush.kind, stroke.values));
  }

  leave(): void {
    this.ring.visible = false;
    this.bench.stage.redraw();
  }

  key(event: KeyboardEvent): boolean {
    const { brush } = store.state;
    if (event.key === '[') store.set({ brush: { ...brush, radius: Math.max(0.01, brush.radius / 1.15) } });
    else if (event.key === ']') store.set({ brush: { ...brush, radius: Math.min(0.4, brush.radius * 1.15) } });
    else if (event.key === 'x') store.set({ brush: { ...brush, erase: !brush.erase } });
    else return false;
    return true;
  }

  private radius(): number {
    return store.state.brush.radius * (this.bench.figure()?.opened.about.diagonal ?? 1);
  }

  private paint({ rest }: Hit): void {
    const { opened } = this.bench.figure()!;
    const { brush } = store.state;
    const [low, high] = opened.about.bounds;
    const places = [rest.toArray()];
    if (brush.mirror) places.push([low[0] + high[0] - rest.x, rest.y, rest.z]);
    const { values, before, done } = this.stroke!;
    dab(values, before, done, opened.positions, places, brush, this.radius());
    this.showPaint();
  }

  private showPaint(): void {
    const { brush, settings, tool } = store.state;
    if (tool !== 'brush') return;
    const { scale } = PAINTS[brush.kind];
    for (const figure of this.bench.stage.figures) {
      const values = this.stroke?.values ?? paintOf(settings, brush.kind, figure.opened.about.vertices);
      figure.paint = { values, scale };
      figure.restyle();
    }
    this.bench.stage.redraw();
  }
}
