import { countJoining } from '../common/markup/longTexts.js';

/** A turn of direction takes several times as long as one of scripts. */
const directionTurn = 4;
/** Among letters without a font it takes a browser the square of their number. */
const wideSpace = 0x3000;
const wideSpaceTurn = 4;
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
	/** Letters that join or combine, and turns of script, direction or font: a browser shapes what lies between two turns by itself. */
	joined: number;
	/**
	 * What takes no place on screen, of which any number is laid out at once: marks above those of a letter, and what
	 * turns the direction.
	 */
	piled: number;
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
			return { joined: countJoining(text) + turns, piled };
		},
	};
}

const markOrControl = /^[\p{M}\p{Bidi_Control}]$/u;

const isControl = (code: number) => code === 0x61c || (code >= 0x200e && code <= 0x2069);

/** Blocks beyond Latin whose letters have one script or font in common, by their last character. */
const blocks: readonly (readonly [last: number, script: number | undefined])[] = [
	[0x36f, undefined],
	[0x3ff, 2],
	[0x52f, 3],
	[0x58f, 4],
	[0x8ff, rightToLeft],
	[0x10ff, 5],
	[0x11ff, 6],
	[0x1dff, 5],
	[0x1eff, 1],
	[0x1fff, 2],
	[0x206f, undefined],
	[0x2bff, 7],
	[0x2dff, 5],
	[0x2e7f, undefined],
	[0x312f, 8],
	[0x318f, 6],
	[0x9fff, 8],
	[0xabff, 5],
	[0xd7ff, 6],
	[0xf8ff, 9],
	[0xfaff, 8],
	[0xfb1c, 4],
	[0xfdff, rightToLeft],
	[0xfe6f, undefined],
	[0xfeff, rightToLeft],
	[0xffff, 8],
	[0x107ff, 10],
	[0x10fff, rightToLeft],
	[0x1e7ff, 10],
	[0x1efff, rightToLeft],
	[0x1ffff, 11],
];

/** Undefined for what belongs to the script around it, such as a space or a full stop. */
function scriptOf(code: number): number | undefined {
	if (code <= 0x40) return undefined;
	if (code <= 0x24f) return 1;
	const block = blocks.find(([last]) => code <= last);
	return block === undefined ? 8 : block[1];
}
