import { characterCosts } from '../common/markup/characterCosts.js';

/**
 * Characters that the browser lays out in a moment, whatever they are: a line of a megabyte, or of letters that join,
 * takes it minutes.
 */
const maxUnits = 4000;
const maxLines = 200;
/** Characters of a line on screen, at least: a longer line wraps. */
const unitsOnScreen = 120;
/** Characters of a block with the tags of the highlighter. */
const maxColouredUnits = 16_000;
/** Colours within each other, which each block repeats, and in all. */
const maxDepth = 40;
const maxTags = 200_000;
/** Letters that join and script runs of a line, or characters in several fonts: a browser takes the square of their number. */
const maxCostly = 4000;

/** Consecutive lines of a text, with their ends. */
export interface SourceBlock {
	/**
	 * How many lines it takes on screen, for its height until it is laid out: one that is too low would bring dozens of
	 * others on screen.
	 */
	lines: number;
	content: string;
}

/** A text in blocks, each of which is laid out when it comes on screen. A line that is longer than a block goes on in the next one. */
export function textBlocks(text: string): SourceBlock[] {
	const blocks: SourceBlock[] = [];
	for (let start = 0; start < text.length; ) {
		const limit = Math.min(text.length, start + maxUnits);
		let end = start;
		let lines = 0;
		while (end < text.length && lines < maxLines) {
			const newline = text.indexOf('\n', end);
			const next = newline === -1 ? text.length : newline + 1;
			if (next > limit) break;
			end = next;
			lines++;
		}
		if (lines === 0) {
			// No pair of surrogates is cut.
			const isPair = limit < text.length && /[\uD800-\uDBFF]/.test(text.charAt(limit - 1));
			end = isPair ? limit - 1 : limit;
			lines = 1;
		}
		blocks.push({ lines: Math.max(lines, Math.ceil((end - start) / unitsOnScreen)), content: text.slice(start, end) });
		start = end;
	}
	return blocks;
}

/** The highlighter's HTML in blocks, each with the spans around it; undefined where its lines are too long, or its colours too many. */
export function colouredBlocks(html: string): SourceBlock[] | undefined {
	const blocks: SourceBlock[] = [];
	const open: string[] = [];
	let parts: string[] = [];
	let units = 0;
	let lines = 0;
	let tags = 0;
	for (let at = 0; at < html.length; ) {
		const newline = html.indexOf('\n', at);
		const end = newline === -1 ? html.length : newline + 1;
		if (end - at > maxColouredUnits) return undefined;
		const line = html.slice(at, end);
		const text = line.replaceAll(/<[^<>]*>/g, '');
		const { costly, piled, uncommon } = characterCosts().add(text);
		if (costly + piled > maxCostly || uncommon > maxCostly) return undefined;
		parts.push(line);
		units += line.length;
		lines += Math.max(1, Math.ceil(text.length / unitsOnScreen));
		for (const [tag] of line.matchAll(/<[^<>]*>/g)) {
			if (tag.startsWith('</')) open.pop();
			else open.push(tag);
			if (++tags > maxTags || open.length > maxDepth) return undefined;
		}
		at = end;
		if (at < html.length && units < maxColouredUnits && lines < maxLines) continue;
		blocks.push({ lines, content: parts.join('') + '</span>'.repeat(open.length) });
		parts = [...open];
		units = 0;
		lines = 0;
	}
	return blocks;
}
