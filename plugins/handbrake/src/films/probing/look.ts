/** How the pictures of a track are shown, as its file says, which may say something else than its pictures do. */
export interface Look {
	/** The width of a shown picture by its height; NaN if its size is unknown. */
	shape: number;
	/** The width of a pixel by its height, in pictures that are turned as they are shown: two numbers of 16 bits. */
	pixels: readonly [number, number];
	/** What its colours are in numbers, by the names of ffprobe; empty where that is not said. */
	colours: Colours;
	/** The colours of a track that says nothing of them, and of which HandBrake would suppose others once it has turned the pictures. */
	supposed: 'HD' | 'SD' | undefined;
}

interface Colours {
	matrix: string;
	primaries: string;
	transfer: string;
}

interface Said {
	width: number;
	height: number;
	sample_aspect_ratio: string;
	color_space: string;
	color_primaries: string;
	color_transfer: string;
}

/** How pictures are shown of which ffprobe says this, and which are turned to lie on a side or not. */
export function lookOf({ width, height, ...said }: Said, isOnSide: boolean): Look {
	const pixels = pixelsOf(said.sample_aspect_ratio);
	const shape = (width * pixels[0]) / (height * pixels[1]);
	const colours = {
		matrix: saidColour(said.color_space),
		primaries: saidColour(said.color_primaries),
		transfer: saidColour(said.color_transfer),
	};
	if (!isOnSide) return { shape, pixels, colours, supposed: undefined };
	const supposed = supposedColours(width, height);
	const isUnsaid = colours.matrix === '' && supposed !== supposedColours(height, width);
	return { shape: 1 / shape, pixels: [pixels[1], pixels[0]], colours, supposed: isUnsaid ? supposed : undefined };
}

const saidColour = (name: string) => (/^(?:unknown|unspecified|reserved)$/.test(name) ? '' : name);

/** As HandBrake and players suppose colours of which a film says nothing, by its size. */
const supposedColours = (width: number, height: number) =>
	width >= 1280 || height >= 720 || (width > 720 && height > 576) ? 'HD' : 'SD';

const maxSide = 65_535;

/** Unknown is square. */
function pixelsOf(printed: string): [number, number] {
	const [, width = 1, height = 1] = (/^(\d{1,10}):(\d{1,10})$/.exec(printed) ?? []).map(Number);
	if (width === 0 || height === 0) return [1, 1];
	const unit = Math.max(1, width / maxSide, height / maxSide);
	return [Math.max(1, Math.round(width / unit)), Math.max(1, Math.round(height / unit))];
}

/** The nine numbers of a matrix that ffprobe prints as lines with addresses, each behind a space. */
const numbersOf = (printed: string) =>
	[...printed.matchAll(/ (-?\d+)/g)].map(([, number]) => Number(number)).slice(0, 9);

/** A matrix that ffprobe prints, to be compared; empty for none, and for one that changes nothing. */
export function matrixOf(printed: string): string {
	const matrix = numbersOf(printed).join();
	return matrix === '65536,0,0,0,65536,0,0,0,1073741824' ? '' : matrix;
}

/** Whether a matrix of ffprobe turns pictures by quarters only, or does nothing. */
export function isTurned(matrix: string): boolean {
	const [a = 1, b = 0, , c = 0, d = 1] = numbersOf(matrix);
	return (b === 0 && c === 0 && a * d > 0) || (a === 0 && d === 0 && b * c < 0);
}

/** Whether a matrix of ffprobe turns pictures by one quarter or three. */
export function isOnSide(matrix: string): boolean {
	const [a = 1, b = 0] = numbersOf(matrix);
	return a === 0 && b !== 0;
}

/** Sides of pictures are rounded to even numbers, and in WebM their shape to whole pixels. */
const tolerance = 0.02;

export const isSameShape = (a: number, b: number) => Math.abs(a / b - 1) <= tolerance;

/** Numbers of one meaning that have several names. */
const meanings: ReadonlyMap<string, string> = new Map([
	['bt470bg matrix', 'smpte170m matrix'],
	// The same colours, of which HandBrake writes the other name.
	['smpte240m primaries', 'smpte170m primaries'],
	...['smpte170m', 'bt2020-10', 'bt2020-12'].map((name) => [`${name} transfer`, 'bt709 transfer'] as const),
]);

/** The colours that an output may leave unsaid. */
const ordinary: ReadonlySet<string> = new Set(['bt709', 'smpte170m', 'bt470bg']);

/** Whether the pictures of an output have the colours of the original. */
export function areSameColours({ colours, supposed }: Look, output: Look): boolean {
	const isSame = (kind: keyof Colours, expected: string) => {
		const meaningOf = (name: string) => meanings.get(`${name} ${kind}`) ?? `${name} ${kind}`;
		const found = output.colours[kind];
		return expected === '' || (found === '' ? ordinary.has(expected) : meaningOf(found) === meaningOf(expected));
	};
	const matrix = supposed === undefined ? colours.matrix : matrices[supposed];
	return isSame('matrix', matrix) && isSame('primaries', colours.primaries) && isSame('transfer', colours.transfer);
}

const matrices = { HD: 'bt709', SD: 'smpte170m' } as const;

/**
 * The options by which HandBrake shows pictures as their file says, where it would show them otherwise: it takes the shape of pixels that
 * the frames say, though a film was given another one without encoding it again, and for a film that was made upright and says nothing of
 * its colours those of its turned size.
 */
export function lookArguments(
	{ shape, pixels, colours, supposed }: Look,
	rate: number,
	found: { shape: number },
): string[] {
	// An exact one costs nothing.
	const isOther = Math.abs(shape / found.shape - 1) > tolerance / 4;
	// The option sets these, too.
	const isSaid = colours.primaries !== '' || colours.transfer !== '';
	return [
		...(isOther ? ['--custom-anamorphic', '--pixel-aspect', pixels.join(':')] : []),
		...(supposed === undefined || isSaid ? [] : ['--color-matrix', supposed === 'HD' ? '709' : ofTelevision(rate)]),
	];
}

/** Both have the same matrix; the primaries are those that HandBrake supposes by the rate of a film that is not turned. */
const ofTelevision = (rate: number) => (rate > 0 && rate % 25 === 0 ? 'pal' : '601');
