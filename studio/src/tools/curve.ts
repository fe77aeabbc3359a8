import { Color, Group, InstancedMesh, Matrix4, MeshBasicMaterial, SphereGeometry, Vector2, Vector3 } from 'three';
import { Line2 } from 'three/addons/lines/Line2.js';
import { LineGeometry } from 'three/addons/lines/LineGeometry.js';
import { LineMaterial } from 'three/addons/lines/LineMaterial.js';
import { nearestVertex } from '../scene/pick';
import type { Aim } from '../scene/stage';
import { store, type ToolName } from '../state/state';
import { type Curve, type CurveBook, freeName } from './curves';
import { hitOf, type Tool, type Workbench } from './tool';

/** How near to a point the pointer counts as on it, in pixels. */
const REACH_PIXELS = 11;
const MOST_POINTS = 500;
const CALM = new Color(0xffd479);
const CHOSEN = new Color(0x35c4b1);

/** A point of a curve, and the vertex of the skin that it is drawn with. */
interface Handle {
  curve: number;
  point: number;
  vertex: number;
}

/** Draws curves on the skin: click to add points, drag them, delete them. Points are kept in the rest pose. */
export class CurveTool implements Tool {
  private readonly group = new Group();
  private readonly dots = new InstancedMesh(
    new SphereGeometry(1, 14, 10),
    new MeshBasicMaterial({ depthTest: false, transparent: true, toneMapped: false }),
    MOST_POINTS,
  );
  private readonly thin = lineMaterial(CALM, 2.5);
  private readonly bold = lineMaterial(CHOSEN, 3.5);
  private lines: Line2[] = [];
  private curves: Curve[] = [];
  private handles: Handle[] = [];
  /** A curve with one point is not yet one for the settings. */
  private draft: Curve | null = null;
  private chosen: { curve: number; point: number } | null = null;
  private dragging = false;
  /** Whether the tool has put its field on show, and is to take it away. */
  private shows = false;
  private unwatch: (() => void) | null = null;

  constructor(private readonly bench: Workbench, private readonly name: ToolName, readonly book: CurveBook) {
    this.group.visible = false;
    this.dots.frustumCulled = false;
    this.dots.renderOrder = 21;
    this.group.add(this.dots);
    bench.stage.scene.add(this.group);
  }

  start(): void {
    this.group.visible = true;
    this.unwatch = store.watch(['settings', 'character'], () => this.load());
    const { drawing, prepared } = store.state;
    this.shows = drawing === null && this.book.field !== null && prepared?.drawings.includes(this.book.field) === true;
    if (this.shows) store.set({ drawing: this.book.field });
  }

  stop(): void {
    this.unwatch?.();
    this.group.visible = false;
    if (this.shows && store.state.drawing === this.book.field) store.set({ drawing: null });
    this.draft = null;
    this.chosen = null;
    store.set({ curve: null });
    this.bench.stage.redraw();
  }

  down(aim: Aim): boolean {
    const handle = this.handleAt(aim);
    if (!handle) return false;
    this.chosen = { curve: handle.curve, point: handle.point };
    store.set({ curve: handle.curve });
    this.dragging = true;
    this.redraw();
    return true;
  }

  move(aim: Aim, _event: PointerEvent, pressed: boolean): void {
    this.bench.stage.canvas.style.cursor = this.handleAt(aim) ? 'grab' : 'crosshair';
    if (!pressed || !this.dragging || !this.chosen) return;
    const found = hitOf(this.bench, aim);
    const point = this.curves[this.chosen.curve]?.points[this.chosen.point];
    if (!found || !point) return;
    point.at = rounded(found.hit.rest);
    this.attach();
    this.redraw();
  }

  up(): void {
    if (!this.dragging || !this.chosen) return;
    this.dragging = false;
    const { curve, point } = this.chosen;
    if (this.curves[curve] === this.draft) return;
    void this.jointAt(curve, point).then(() => this.commit());
  }

  async click(aim: Aim): Promise<void> {
    const found = hitOf(this.bench, aim);
    if (!found || this.handles.length >= MOST_POINTS) return;
    const { curve } = store.state;
    const shape = (curve === null ? this.draft : this.curves[curve]) ?? this.newCurve();
    shape.points.push({ at: rounded(found.hit.rest) });
    const index = this.curves.indexOf(shape);
    this.chosen = { curve: index, point: shape.points.length - 1 };
    this.attach();
    this.redraw();
    await this.jointAt(index, this.chosen.point);
    if (shape.points.length < 2) return;
    this.draft = null;
    store.set({ curve: index });
    this.commit();
  }

  key(event: KeyboardEvent): boolean {
    if (event.key === 'Enter') this.finish();
    else if ((event.key === 'Delete' || event.key === 'Backspace') && this.chosen) this.deletePoint();
    else if (event.key === 'Escape' && (store.state.curve !== null || this.draft)) this.finish();
    else return false;
    return true;
  }

  /** The next click starts another curve. */
  finish(): void {
    this.draft = null;
    this.chosen = null;
    store.set({ curve: null });
    this.load();
  }

  choose(curve: number): void {
    this.chosen = null;
    store.set({ curve });
    this.redraw();
  }

  delete(curve: number): void {
    this.curves.splice(curve, 1);
    this.chosen = null;
    store.set({ curve: null });
    this.commit();
  }

  /** The skin has moved, and the points with it. */
  follow(): void {
    if (this.group.visible) this.redraw();
  }

  private deletePoint(): void {
    const { curve, point } = this.chosen!;
    this.curves[curve]!.points.splice(point, 1);
    this.chosen = null;
    // What is left is no curve.
    if (this.curves[curve]!.points.length < 2) return this.delete(curve);
    this.commit();
  }

  private newCurve(): Curve {
    const shape: Curve = { points: [], table: { name: freeName(this.book.stem, this.curves) } };
    this.draft = shape;
    this.curves.push(shape);
    return shape;
  }

  private commit(): void {
    const { settings } = store.state;
    this.bench.session.change(this.book.write(settings, this.curves.filter((curve) => curve !== this.draft)));
  }

  private load(): void {
    const figure = this.bench.figure();
    if (!figure || store.state.tool !== this.name) return;
    const read = this.book.read(store.state.settings, figure.opened.about);
    this.curves = read.map((curve) => ({ ...curve, points: curve.points.map((point) => ({ ...point })) }));
    if (this.draft) this.curves.push(this.draft);
    const { curve } = store.state;
    if (curve !== null && curve >= this.curves.length) store.set({ curve: null });
    if (this.chosen && !this.curves[this.chosen.curve]?.points[this.chosen.point]) this.chosen = null;
    this.attach();
    this.redraw();
  }

  /** Finds for each point the vertex that it is drawn with. */
  private attach(): void {
    const figure = this.bench.figure();
    if (!figure) return;
    this.handles = this.curves.flatMap((shape, curve) =>
      shape.points.map(({ at }, point) => ({ curve, point, vertex: nearestVertex(figure.opened.positions, new Vector3(...at)) })),
    );
  }

  /** A muscle's point goes with the bone that moves the skin there most. */
  private async jointAt(curve: number, point: number): Promise<void> {
    if (!this.book.joints) return;
    const handle = this.handles.find((one) => one.curve === curve && one.point === point);
    const target = this.curves[curve]?.points[point];
    if (!handle || !target) return;
    const engine = await this.bench.session.anyEngine();
    const { weights } = await engine.vertex(handle.vertex);
    const heaviest = weights.reduce((a, b) => (b.weight > a.weight ? b : a), { joint: '', weight: -1 });
    target.joint = heaviest.joint;
  }

  /** Where a point is on the skin as it is now. */
  private place({ curve, point, vertex }: Handle): Vector3 {
    const figure = this.bench.figure()!;
    const at = new Vector3(...this.curves[curve]!.points[point]!.at);
    const rest = new Vector3().fromArray(figure.opened.positions, 3 * vertex);
    return at.sub(rest).add(new Vector3().fromArray(figure.skin.positions, 3 * vertex));
  }

  private handleAt(aim: Aim): Handle | null {
    const size = this.bench.stage.size();
    let best: Handle | null = null;
    let nearest = REACH_PIXELS;
    for (const handle of this.handles) {
      const at = this.place(handle).project(this.bench.stage.camera);
      const distance = new Vector2((at.x - aim.x) * size.x, (at.y - aim.y) * size.y).multiplyScalar(0.5).length();
      if (distance < nearest) [best, nearest] = [handle, distance];
    }
    return best;
  }

  private redraw(): void {
    const figure = this.bench.figure();
    if (!figure) return;
    const radius = 0.006 * figure.opened.about.diagonal;
    const matrix = new Matrix4();
    const through: Vector3[][] = this.curves.map(() => []);
    this.dots.count = Math.min(this.handles.length, MOST_POINTS);
    this.handles.forEach((handle, i) => {
      const place = this.place(handle);
      through[handle.curve]!.push(place);
      if (i >= MOST_POINTS) return;
      const chosen = this.chosen?.curve === handle.curve && this.chosen.point === handle.point;
      const size = radius * (chosen ? 1.5 : 1);
      this.dots.setMatrixAt(i, matrix.makeScale(size, size, size).setPosition(place));
      this.dots.setColorAt(i, chosen ? CHOSEN : CALM);
    });
    this.dots.instanceMatrix.needsUpdate = true;
    if (this.dots.instanceColor) this.dots.instanceColor.needsUpdate = true;
    for (const line of this.lines) {
      this.group.remove(line);
      line.geometry.dispose();
    }
    this.lines = through.map((points, curve) => this.line(points, curve === store.state.curve));
    if (this.lines.length > 0) this.group.add(...this.lines);
    this.bench.stage.redraw();
  }

  private line(points: Vector3[], chosen: boolean): Line2 {
    const line = new Line2(new LineGeometry(), chosen ? this.bold : this.thin);
    const drawn = this.book.drawn(points);
    line.geometry.setPositions(drawn.flatMap((point) => point.toArray()));
    line.visible = drawn.length > 1;
    line.frustumCulled = false;
    line.renderOrder = 20;
    return line;
  }
}

function lineMaterial(color: Color, linewidth: number): LineMaterial {
  return new LineMaterial({ color: color.getHex(), linewidth, depthTest: false, transparent: true, toneMapped: false });
}

/** As many digits as a settings file should have. */
function rounded(place: Vector3): [number, number, number] {
  return place.toArray().map((x) => Number(x.toPrecision(6))) as [number, number, number];
}
