/** A run in another direction counts for several: it takes that many times as long as one in another script. */
const runsOfDirection = 4;
/** The ideographic space. Among characters without a font a browser takes the square of their number for it. */
const wideSpace = 0x3000;
const runsOfWideSpace = 4;
/**
 * Controls such as form feeds, each of which a browser lays out by itself after it has looked for a font: among letters it takes the
 * square of their number. Not tabs and ends of lines.
 */
const runsOfControl = 4;
/** Combining marks of one letter; no language has more. */
const maxMarks = 4;
const rightToLeft = 0;
/** Scripts from this number on have another font than Latin letters, digits and spaces. */
const firstOfOtherFont = 5;

export interface CharacterCosts {
	/** What a text adds that continues the one before. */
	add(text: string): AddedCost;
}

export interface AddedCost {
	/** Letters that join or combine. */
	joining: number;
	/** Letters that join or combine, and script runs: characters of one script, direction and font, which a browser shapes together. */
	costly: number;
	/**
	 * Characters that take no place on screen, so that any number is laid out at once: more combining marks than a letter has,
	 * and bidi controls.
	 */
	piled: number;
	/** What a browser lays out by itself where blanks and lines are kept. */
	separate: number;
	/**
	 * Characters that the font of those around them may lack, whatever their script: a browser takes the square of the number of times
	 * that the font changes. Which fonts a system has is not known, so that each counts.
	 */
	uncommon: number;
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
const joiningCharacter =
	/[\p{M}\u0590-\u1DFF\u2060-\u2064\u206A-\u206F\uA800-\uABFF\uE000-\uF8FF\uFB1D-\uFDFF\uFE70-\uFEFF\u{10000}-\u{1EFFF}\u{F0000}-\u{10FFFF}]|\u200C|\u200D/gu;

/** How many letters of a text join or combine. */
const countJoining = (text: string) => text.match(joiningCharacter)?.length ?? 0;

/** The longest beginning of a text in which at most `max` letters join or combine. */
export function withFewJoining(text: string, max: number): string {
	if (countJoining(text) <= max) return text;
	let left = max;
	let end = 0;
	for (const { index } of text.matchAll(joiningCharacter)) {
		end = index;
		if (left-- === 0) break;
	}
	return text.slice(0, end);
}

/** Counts the characters for which a browser takes longer the more there are of them. Each character is read twice. */
export function characterCosts(): CharacterCosts {
	let script: number | undefined;
	let marks = 0;
	let isBetween = false;
	return {
		add(text) {
			let runs = 0;
			let piled = 0;
			let uncommon = 0;
			for (const character of text) {
				const code = character.codePointAt(0) ?? 0;
				if (code >= 0x300 && markOrControl.test(character)) {
					if (isControl(code) || ++marks > maxMarks) piled++;
					continue;
				}
				marks = 0;
				if (!isCommon(code)) uncommon++;
				if (code === wideSpace) runs += runsOfWideSpace;
				else if (isSeparateControl(code)) runs += runsOfControl;
				const found = scriptOf(code);
				const isBack = isBetween && found === script;
				isBetween = found === undefined;
				if (found === undefined) continue;
				// After a number or a space such characters begin a run in their font again.
				if (isBack && found >= firstOfOtherFont) runs++;
				if (found === script) continue;
				if (script !== undefined) runs += found === rightToLeft || script === rightToLeft ? runsOfDirection : 1;
				script = found;
			}
			const joining = countJoining(text);
			return { joining, costly: joining + runs, piled, separate: text.match(/\n|\t+/g)?.length ?? 0, uncommon };
		},
	};
}

const markOrControl = /^[\p{M}\p{Bidi_Control}]$/u;

/** The C0 and C1 controls, which show nothing on screen, but for tabs and line feeds. */
const isSeparateControl = (code: number) =>
	code < 0x20 ? code !== 0x09 && code !== 0x0a : code >= 0x7f && code <= 0x9f;

/** The last letter of Latin Extended-A, up to which one font has all. */
const lastOfLatin = 0x17f;
/**
 * What a font of a script has in any case: of Greek and Cyrillic the letters of WGL4, and the letters of Armenian and East Asia. Each
 * other character is missing in the fonts of some systems, such as those of Vietnamese in fonts that have all those of Polish.
 */
const commonRanges: readonly (readonly [first: number, last: number])[] = [
	[0x386, 0x38a],
	[0x38c, 0x38c],
	[0x38e, 0x3a1],
	[0x3a3, 0x3ce],
	[0x401, 0x40c],
	[0x40e, 0x44f],
	[0x451, 0x45c],
	[0x45e, 0x45f],
	[0x531, 0x556],
	[0x561, 0x587],
	[0x3000, 0x301f],
	[0x3041, 0x3096],
	[0x309b, 0x309e],
	[0x30a1, 0x30fe],
	[0x4e00, 0x9fa5],
	[0xac00, 0xd7a3],
	[0xff01, 0xff5e],
	[0xff61, 0xff9f],
];

const isCommon = (code: number) =>
	code <= lastOfLatin || commonRanges.some(([first, last]) => code >= first && code <= last);

const isControl = (code: number) => code === 0x61c || (code >= 0x200e && code <= 0x2069);

/**
 * Unicode blocks with one script or font, by their last character. Characters of `many` are spread over several fonts, in groups of 32.
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

/** The number of a script or font. Undefined for characters of the script around them, such as a space or a full stop. */
function scriptOf(code: number): number | undefined {
	if (code <= 0x40 || isSeparateControl(code)) return undefined;
	const block = blocks.find(([last]) => code <= last);
	const script = block === undefined ? 'many' : block[1];
	return script === 'many' ? firstGroup + (code >> 5) : script;
}
