/** Signs of the fonts Symbol and Wingdings, by their places in them, as every font has them. */
const symbol: Readonly<Record<number, string>> = {
	45: '−',
	167: '♣',
	168: '♦',
	169: '♥',
	170: '♠',
	171: '↔',
	172: '←',
	173: '↑',
	174: '→',
	175: '↓',
	176: '°',
	177: '±',
	179: '≥',
	163: '≤',
	180: '×',
	183: '•',
	184: '÷',
	185: '≠',
	187: '≈',
	215: '⋅',
	222: '⇒',
};

const wingdings: Readonly<Record<number, string>> = {
	74: '☺',
	108: '●',
	110: '■',
	111: '□',
	113: '❑',
	114: '❒',
	116: '⧫',
	117: '◆',
	118: '❖',
	119: '⬥',
	158: '·',
	159: '•',
	167: '▪',
	168: '◻',
	216: '➢',
	220: '➲',
	223: '←',
	224: '→',
	232: '➔',
	240: '⇨',
	251: '✗',
	252: '✓',
	253: '☒',
	254: '☑',
};

/** Word writes them at U+F000 and up, where only the computer that has those fonts shows anything. An unknown one becomes a bullet. */
export function withPlainSymbols(text: string, fonts: string): string {
	const [first, second] = /wingdings/i.test(fonts) ? [wingdings, symbol] : [symbol, wingdings];
	return text.replaceAll(/[\uf020-\uf0ff]/g, (sign) => {
		const place = sign.charCodeAt(0) - 0xf000;
		return first[place] ?? second[place] ?? '•';
	});
}
