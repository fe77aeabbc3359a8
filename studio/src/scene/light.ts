import {
  BackSide, BoxGeometry, Color, DirectionalLight, Group, HemisphereLight, Mesh, MeshBasicMaterial, PMREMGenerator, Scene,
  SphereGeometry, type Texture, Vector3, type WebGLRenderer,
} from 'three';

/** A soft studio: a grey room with a large lamp above, one at each side and a dim floor, blurred for reflections. */
export function studioEnvironment(renderer: WebGLRenderer): Texture {
  const room = new Scene();
  const sphere = new SphereGeometry(10, 16, 12);
  const box = new BoxGeometry();
  const glow = (level: number, position: [number, number, number], size: [number, number, number]) => {
    const lamp = new Mesh(box, new MeshBasicMaterial({ color: new Color().setScalar(level) }));
    lamp.position.set(...position);
    lamp.scale.set(...size);
    room.add(lamp);
  };
  room.add(new Mesh(sphere, new MeshBasicMaterial({ color: new Color().setScalar(0.42), side: BackSide })));
  glow(4.5, [0, 7, 0], [7, 0.2, 7]);
  glow(3, [-7, 2.5, 2], [0.2, 4, 5]);
  glow(1.6, [7, 2, -1], [0.2, 4, 5]);
  glow(2, [0, 3, -7], [5, 3, 0.2]);
  glow(0.16, [0, -4, 0], [14, 0.2, 14]);
  const generator = new PMREMGenerator(renderer);
  const texture = generator.fromScene(room, 0.04, 0.1, 100, { size: 64 }).texture;
  generator.dispose();
  sphere.dispose();
  box.dispose();
  return texture;
}

/** A key light that casts soft shadows, and light from the sky. */
export class Lights {
  readonly group = new Group();
  private readonly sky = new HemisphereLight(0xf2f6ff, 0x8a8580);
  private readonly key = new DirectionalLight(0xfff4e8, 1.9);

  constructor() {
    this.reflections(false);
    this.key.castShadow = true;
    this.key.shadow.mapSize.set(1024, 1024);
    this.key.shadow.radius = 5;
    this.key.shadow.intensity = 0.75;
    this.group.add(this.sky, this.key, this.key.target);
  }

  /** Light from all around, which is the sky's where there are no reflections. */
  reflections(on: boolean): void {
    this.sky.intensity = on ? 0.35 : 2.4;
  }

  shadows(on: boolean): void {
    this.key.castShadow = on;
  }

  /** Puts the key light where its shadow covers a sphere. */
  cover(middle: Vector3, radius: number): void {
    const direction = new Vector3(0.55, 1, 0.65).normalize();
    this.key.target.position.copy(middle);
    this.key.position.copy(middle).addScaledVector(direction, 4 * radius);
    const camera = this.key.shadow.camera;
    const side = 2 * radius;
    camera.left = camera.bottom = -side;
    camera.right = camera.top = side;
    camera.near = radius;
    camera.far = 8 * radius;
    camera.updateProjectionMatrix();
    this.key.shadow.bias = -0.0004;
    this.key.shadow.normalBias = 0.004 * radius;
  }
}
