import { Box3, Group, Matrix4, type Mesh, type Object3D, Vector3 } from 'three';
import type { Frame, HeatScale, Opened } from '../engine/protocol';
import { heatColours } from './heat';
import type { Look } from './look';
import { Overlays } from './overlays';
import { Skeleton } from './skeleton';
import { Skin } from './skin';

/** What to draw of a figure. */
export interface Appearance {
  heat: boolean;
  /** See through the skin to what is drawn within, or take it away. */
  skin: 'solid' | 'ghost' | 'hidden';
  wire: boolean;
  skeleton: boolean;
  dark: boolean;
}

/** A character in the scene, as one engine's frames show it. */
export class Figure {
  readonly group = new Group();
  readonly skin: Skin;
  readonly skeleton: Skeleton;
  readonly overlays = new Overlays();
  frame: Frame | null = null;
  /** Colours in place of the file's: a heat map of the frame, or what is being painted. */
  paint: { values: Float32Array; scale: HeatScale } | null = null;
  scale: HeatScale | null = null;
  private appearance: Appearance = { heat: false, skin: 'solid', wire: false, skeleton: false, dark: true };
  private readonly driven: { object: Object3D; joint: number }[] = [];

  constructor(readonly opened: Opened, look: Look) {
    this.skin = new Skin(opened, look);
    this.skeleton = new Skeleton(opened.about);
    this.group.add(this.skin.group, this.skeleton.group, this.overlays.group);
    if (look.props) this.addProps(look);
  }

  /** Shows a frame of the engine. */
  show(frame: Frame): void {
    this.frame = frame;
    this.skin.move(frame.positions, frame.normals);
    this.skeleton.move(frame.joints);
    this.overlays.show(frame.drawing);
    const matrix = new Matrix4();
    for (const { object, joint } of this.driven) {
      object.matrixWorld.copy(matrix.fromArray(frame.joints, 16 * joint));
      object.matrixWorldNeedsUpdate = true;
    }
    this.restyle();
  }

  look(appearance: Appearance): void {
    this.appearance = appearance;
    this.skeleton.group.visible = appearance.skeleton;
    this.skin.theme(appearance.dark);
    this.restyle();
  }

  /** Colours the skin anew, from paint or heat. */
  restyle(): void {
    const { skin, wire } = this.appearance;
    const values = this.paint?.values ?? (this.appearance.heat ? (this.frame?.heat ?? null) : null);
    const scale = this.paint?.scale ?? this.scale;
    if (values && scale) this.skin.colour((colours) => heatColours(values, scale, colours));
    const solid = values && scale ? 'colours' : 'file';
    this.skin.style(this.paint || skin === 'solid' ? solid : skin, wire);
  }

  /** Of the skin as it is shown. */
  bounds(): Box3 {
    return new Box3().setFromArray(this.skin.positions);
  }

  restBounds(): Box3 {
    const [low, high] = this.opened.about.bounds;
    return new Box3(new Vector3(...low), new Vector3(...high));
  }

  dispose(): void {
    this.skin.dispose();
    this.skeleton.dispose();
    this.overlays.dispose();
  }

  /** Puts the document's other things into the scene, carried by the joints. */
  private addProps(look: Look): void {
    const copies = new Map<Object3D, Object3D>();
    const props = look.props!.clone(true);
    pair(look.props!, props, copies);
    props.traverse((object) => {
      object.castShadow = object.receiveShadow = (object as Mesh).isMesh === true;
    });
    this.opened.about.joints.forEach(({ node }, joint) => {
      const object = copies.get(look.nodes.get(node)!);
      if (!object) return;
      object.matrixWorldAutoUpdate = false;
      this.driven.push({ object, joint });
    });
    this.group.add(props);
  }
}

/** Which object of a clone stands for which of the original. */
function pair(original: Object3D, copy: Object3D, pairs: Map<Object3D, Object3D>): void {
  pairs.set(original, copy);
  original.children.forEach((child, i) => pair(child, copy.children[i]!, pairs));
}
