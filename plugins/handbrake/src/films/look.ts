/** How the pictures of a track are shown, as its file says, which may say something else than its pictures do. */
export interface Look {
	/** The width of a shown picture by its height; NaN if its size is unknown. */
	shape: number;
	/** The width of a pixel by its height, in pictures that are turned as they are shown: two numbers of 16 bits. */
	pixels: readonly [number, number];
}

interface Said {
	width: number;
	height: number;
	sample_aspect_ratio: string;
}

/** How pictures are shown of which ffprobe says this, and which are turned to lie on a side or not. */
export function lookOf({ width, height, sample_aspect_ratio }: Said, isOnSide: boolean): Look {
	const pixels = pixelsOf(sample_aspect_ratio);
	const shape = (width * pixels[0]) / (height * pixels[1]);
	return isOnSide ? { shape: 1 / shape, pixels: [pixels[1], pixels[0]] } : { shape, pixels };
}

const maxSide = 65_535;

/** Unknown is square. */
function pixelsOf(printed: string): [number, number] {
	const [, width = 1, height = 1] = (/^(\d{1,10}):(\d{1,10})$/.exec(printed) ?? []).map(Number);
	if (width === 0 || height === 0) return [1, 1];
	const unit = Math.max(1, width / maxSide, height / maxSide);
	return [Math.max(1, Math.round(width / unit)), Math.max(1, Math.round(height / unit))];
}

/** Sides of pictures are rounded to even numbers, and in WebM their shape to whole pixels. */
const tolerance = 0.02;

export const isSameShape = (a: number, b: number) => Math.abs(a / b - 1) <= tolerance;

/**
 * The options by which HandBrake shows pictures as their file says, where it would show them otherwise: it takes the shape of pixels that
 * the frames say, though a film was given another one without encoding it again.
 */
export function lookArguments({ shape, pixels }: Look, found: { shape: number }): string[] {
	// An exact one costs nothing.
	const isOther = Math.abs(shape / found.shape - 1) > tolerance / 4;
	return isOther ? ['--custom-anamorphic', '--pixel-aspect', pixels.join(':')] : [];
}
