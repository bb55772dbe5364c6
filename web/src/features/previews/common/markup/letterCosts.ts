/** A turn of direction takes several times as long as one of scripts. */
const directionTurn = 4;
/** Among letters without a font it takes a browser the square of their number. */
const wideSpace = 0x3000;
const wideSpaceTurn = 4;
/**
 * Form feeds and the like, of which a browser lays out each by itself, and for which it looks for a font: among letters it takes the square
 * of their number. Not tabs and ends of lines.
 */
const controlTurn = 4;
/** No letter has more, in any language. */
const marksOfLetter = 4;
const rightToLeft = 0;
/** From here on letters are in another font than Latin ones, digits and spaces. */
const firstOfOtherFont = 5;

export interface LetterCosts {
	/** What the letters of a text that goes on with the one before add. */
	add(text: string): AddedCost;
}

interface AddedCost {
	/** Letters that join or combine. */
	letters: number;
	/** Letters that join or combine, and turns of script, direction or font: a browser shapes what lies between two turns by itself. */
	joined: number;
	/**
	 * What takes no place on screen, of which any number is laid out at once: marks above those of a letter, and what
	 * turns the direction.
	 */
	piled: number;
	/** What a browser lays out by itself where blanks and lines are kept. */
	separate: number;
}

/**
 * Ends of lines, and tabs behind anything else, in all texts whose blanks are kept: a browser lays out each by itself, 450,000 in 6 s. A
 * megabyte of code has some 60,000.
 */
export const maxSeparate = 100_000;

/**
 * All marks, the scripts that join their letters or are written from right to left, and rare ones; besides, what a browser looks for a
 * font for in vain, which are joiners and letters of private use.
 */
const joining =
	/[\p{M}\u0590-\u1DFF\u2060-\u2064\u206A-\u206F\uA800-\uABFF\uE000-\uF8FF\uFB1D-\uFDFF\uFE70-\uFEFF\u{10000}-\u{1EFFF}\u{F0000}-\u{10FFFF}]|\u200C|\u200D/gu;

/** The letters of a text that join or combine. */
const countJoining = (text: string) => text.match(joining)?.length ?? 0;

/** The beginning of a text, of which no more than `max` letters join or combine. */
export function withFewJoining(text: string, max: number): string {
	if (countJoining(text) <= max) return text;
	let left = max;
	let end = 0;
	for (const { index } of text.matchAll(joining)) {
		end = index;
		if (left-- === 0) break;
	}
	return text.slice(0, end);
}

/** Counts what takes a browser longer than its number to lay out. Each character is read twice. */
export function letterCosts(): LetterCosts {
	let script: number | undefined;
	let marks = 0;
	let isBetween = false;
	return {
		add(text) {
			let turns = 0;
			let piled = 0;
			for (const character of text) {
				const code = character.codePointAt(0) ?? 0;
				if (code >= 0x300 && markOrControl.test(character)) {
					if (isControl(code) || ++marks > marksOfLetter) piled++;
					continue;
				}
				marks = 0;
				if (code === wideSpace) turns += wideSpaceTurn;
				else if (isSeparateControl(code)) turns += controlTurn;
				const found = scriptOf(code);
				const isBack = isBetween && found === script;
				isBetween = found === undefined;
				if (found === undefined) continue;
				// Behind a number or a space such letters are a turn back to their font.
				if (isBack && found >= firstOfOtherFont) turns++;
				if (found === script) continue;
				if (script !== undefined) turns += found === rightToLeft || script === rightToLeft ? directionTurn : 1;
				script = found;
			}
			const letters = countJoining(text);
			return { letters, joined: letters + turns, piled, separate: text.match(/\n|\t+/g)?.length ?? 0 };
		},
	};
}

const markOrControl = /^[\p{M}\p{Bidi_Control}]$/u;

/** The C0 and C1 controls, which show nothing on screen, but for tabs and line feeds. */
const isSeparateControl = (code: number) =>
	code < 0x20 ? code !== 0x09 && code !== 0x0a : code >= 0x7f && code <= 0x9f;

const isControl = (code: number) => code === 0x61c || (code >= 0x200e && code <= 0x2069);

/**
 * Blocks whose letters have one script or font in common, by their last character. Of those of `many` one font has some and
 * another one others, in groups of 32.
 */
const blocks: readonly (readonly [last: number, script: number | 'many' | undefined])[] = [
	[0x17f, 1],
	[0x2ff, 'many'],
	[0x36f, undefined],
	[0x385, 'many'],
	[0x3ce, 2],
	[0x3ff, 'many'],
	[0x4ff, 3],
	[0x52f, 'many'],
	[0x58f, 4],
	[0x8ff, rightToLeft],
	[0x10ff, 5],
	[0x11ff, 6],
	[0x1dff, 5],
	[0x1eff, 1],
	[0x1fff, 2],
	[0x206f, undefined],
	[0x24ff, 'many'],
	[0x259f, 7],
	[0x27ff, 'many'],
	[0x28ff, 12],
	[0x2bff, 'many'],
	[0x2dff, 5],
	[0x2e7f, 'many'],
	[0x30ff, 8],
	[0x312f, 13],
	[0x318f, 6],
	[0x33ff, 'many'],
	[0x4dbf, 14],
	[0x4dff, 15],
	[0x9fa5, 8],
	[0x9fff, 16],
	[0xabff, 5],
	[0xd7ff, 6],
	[0xf8ff, 9],
	[0xfaff, 17],
	[0xfb1c, 4],
	[0xfdff, rightToLeft],
	[0xfe6f, 'many'],
	[0xfeff, rightToLeft],
	[0xffef, 8],
	[0xffff, 'many'],
	[0x107ff, 10],
	[0x10fff, rightToLeft],
	[0x1e7ff, 10],
	[0x1efff, rightToLeft],
	[0x1f1e5, 'many'],
	[0x1f1ff, 11],
	[0x1f2ff, 'many'],
	[0x1f64f, 11],
	[0x1f67f, 'many'],
	[0x1f6ff, 11],
	[0x1f8ff, 'many'],
	[0x1faff, 11],
	[0x1ffff, 'many'],
	[0x2ffff, 18],
	[0x3ffff, 19],
];
/** The first number of groups of 32. */
const firstGroup = 100;

/** Undefined for what belongs to the script around it, such as a space or a full stop. */
function scriptOf(code: number): number | undefined {
	if (code <= 0x40 || isSeparateControl(code)) return undefined;
	const block = blocks.find(([last]) => code <= last);
	const script = block === undefined ? 'many' : block[1];
	return script === 'many' ? firstGroup + (code >> 5) : script;
}
