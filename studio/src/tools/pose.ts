import { Matrix4, Object3D, Quaternion, Vector3 } from 'three';
import { TransformControls } from 'three/addons/controls/TransformControls.js';
import type { Turn } from '../engine/protocol';
import type { Aim } from '../scene/stage';
import { store } from '../state/state';
import type { Tool, Workbench } from './tool';

/** Turns joints by hand: click a bone, turn it by the rings, and the flesh answers. */
export class PoseTool implements Tool {
  private readonly rings: TransformControls;
  private readonly proxy = new Object3D();
  private readonly turns = new Map<number, Quaternion>();
  private grip: { world: Quaternion; turn: Quaternion } | null = null;

  constructor(private readonly bench: Workbench) {
    const { stage } = bench;
    this.rings = new TransformControls(stage.camera, stage.canvas);
    this.rings.setMode('rotate');
    this.rings.setSpace('local');
    this.rings.setSize(0.8);
    this.rings.enabled = false;
    stage.scene.add(this.proxy, this.rings.getHelper());
    this.rings.addEventListener('change', () => stage.redraw());
    this.rings.addEventListener('dragging-changed', ({ value }) => {
      stage.controls.enabled = !value;
      this.grip = value ? this.takeGrip() : null;
    });
    this.rings.addEventListener('objectChange', () => this.turned());
    store.on(['character'], () => this.turns.clear());
    store.on(['bone'], () => this.hold());
  }

  start(): void {
    // The rings take the whole view for one picture.
    this.bench.session.split(null);
    this.rings.enabled = true;
    this.tell();
    this.hold();
  }

  stop(): void {
    this.rings.enabled = false;
    this.rings.detach();
    this.bench.session.player.turns = null;
    store.set({ bone: null });
    const { clip, seconds, playing } = store.state;
    if (!playing) void this.bench.session.player.seek(clip, seconds);
    this.bench.stage.redraw();
  }

  move(aim: Aim, _event: PointerEvent, pressed: boolean): void {
    const figure = this.bench.figure();
    if (!figure || pressed) return;
    const { stage } = this.bench;
    const over = this.rings.axis === null ? figure.skeleton.pick(aim.x, aim.y, stage.camera, stage.size()) : null;
    stage.canvas.style.cursor = over === null ? '' : 'pointer';
    if (over === figure.skeleton.hovered) return;
    figure.skeleton.hovered = over;
    figure.skeleton.draw();
    stage.redraw();
  }

  click(aim: Aim): void {
    const figure = this.bench.figure();
    if (!figure || this.rings.axis !== null) return;
    const { stage } = this.bench;
    const bone = figure.skeleton.pick(aim.x, aim.y, stage.camera, stage.size());
    if (bone !== null) store.set({ bone });
  }

  /** The ring under the pointer. */
  ring(): string | null {
    return this.rings.axis;
  }

  /** Back to the clip's pose. */
  reset(): void {
    this.turns.clear();
    this.tell();
  }


  /** Turns a joint to a rotation in its own axes, on top of the clip. */
  turn(joint: number, quaternion: Quaternion): void {
    this.turns.set(joint, quaternion.clone().normalize());
    this.tell();
  }

  /** Joints have moved, and the rings with them. */
  follow(): void {
    if (!this.rings.enabled || this.grip) return;
    this.place();
  }

  private hold(): void {
    const figure = this.bench.figure();
    const { bone, tool } = store.state;
    if (!figure) return;
    figure.skeleton.chosen = bone;
    figure.skeleton.draw();
    if (bone === null || tool !== 'pose') {
      this.rings.detach();
    } else {
      this.place();
      this.rings.attach(this.proxy);
    }
    this.bench.stage.redraw();
  }

  private place(): void {
    const frame = this.bench.figure()?.frame;
    const { bone } = store.state;
    if (!frame || bone === null) return;
    new Matrix4().fromArray(frame.joints, 16 * bone).decompose(this.proxy.position, this.proxy.quaternion, new Vector3());
    this.proxy.updateMatrixWorld();
  }

  private takeGrip(): { world: Quaternion; turn: Quaternion } {
    const turn = this.turns.get(store.state.bone!) ?? new Quaternion();
    return { world: this.proxy.quaternion.clone(), turn: turn.clone() };
  }

  /** From world rotation to the joint's own: what it was turned by before, then what the rings add. */
  private turned(): void {
    const { bone } = store.state;
    if (!this.grip || bone === null) return;
    const added = this.grip.world.clone().invert().multiply(this.proxy.quaternion);
    this.turn(bone, this.grip.turn.clone().multiply(added));
  }

  private tell(): void {
    const turns: Turn[] = [...this.turns].map(([joint, q]) => ({ joint, quaternion: [q.x, q.y, q.z, q.w] }));
    this.bench.session.player.turns = turns;
  }
}
