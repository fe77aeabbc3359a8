import { CircleGeometry, Color, DoubleSide, Group, Mesh, ShaderMaterial, ShadowMaterial } from 'three';

/** How many radii of the character the floor reaches, and how many strong lines there are on the way. */
const RADII = 8;
const CELLS = 8;

const VERTEX = `
varying vec2 place;
void main() {
  place = position.xy;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

/** Lines each cell and stronger ones each five, which fade away from the middle. */
const FRAGMENT = `
uniform vec3 ink;
uniform float strength;
varying vec2 place;
float line(float cells) {
  vec2 at = place * cells;
  vec2 away = abs(fract(at - 0.5) - 0.5) / fwidth(at);
  return 1.0 - min(min(away.x, away.y), 1.0);
}
void main() {
  float fade = pow(1.0 - smoothstep(0.0, 1.0, length(place)), 2.0);
  float shade = max(0.35 * line(${(5 * CELLS).toFixed(1)}), line(${CELLS.toFixed(1)}));
  gl_FragColor = vec4(ink, strength * fade * shade);
}`;

/** A floor that shows shadows and a quiet grid. */
export class Ground {
  readonly group = new Group();
  private readonly grid = new ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    transparent: true,
    depthWrite: false,
    side: DoubleSide,
    uniforms: { ink: { value: new Color(1, 1, 1) }, strength: { value: 0.2 } },
  });
  private readonly shade = new ShadowMaterial({ opacity: 0.35, depthWrite: false });

  constructor() {
    const disc = new CircleGeometry(1, 64);
    const shadow = new Mesh(disc, this.shade);
    shadow.receiveShadow = true;
    shadow.renderOrder = -1;
    const lines = new Mesh(disc, this.grid);
    lines.renderOrder = -2;
    this.group.add(shadow, lines);
    this.group.rotation.x = -Math.PI / 2;
  }

  /** Under a character of this radius. Lines stay where they are as it walks. */
  place(x: number, y: number, z: number, radius: number): void {
    const cell = (RADII / CELLS) * radius;
    const snap = (value: number) => cell * Math.round(value / cell);
    // A little below the feet, so that soles do not flicker.
    this.group.position.set(snap(x), y - 0.01 * radius, snap(z));
    this.group.scale.setScalar(RADII * radius);
  }

  theme(dark: boolean): void {
    this.grid.uniforms.ink!.value.set(dark ? 0xffffff : 0x20242a);
    this.grid.uniforms.strength!.value = dark ? 0.16 : 0.22;
    this.shade.opacity = dark ? 0.5 : 0.28;
  }
}
