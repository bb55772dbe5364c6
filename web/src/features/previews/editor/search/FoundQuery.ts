import { SearchQuery } from '@codemirror/search';
import type { EditorState, Text } from '@codemirror/state';
import type { Matches } from './findMatches.js';

/** What a search has found in a text, or why it has found nothing: it took too long, or its code could not be loaded. */
export interface FoundIn {
	doc: Text;
	matches: Matches | 'tooSlow' | 'notLoaded';
}

/** A command of the editor that had to be left, since what it needs is not found yet. */
export type Missed = 'next' | 'previous' | 'select' | 'replace' | 'replaceAll';

interface Match {
	from: number;
	to: number;
	precise: boolean;
	at: number;
}

/**
 * A query of the editor that never searches by itself: an expression may take any time for a text, and the editor
 * would hold the page up. Its commands and marks get what was found elsewhere, nothing until then.
 */
export class FoundQuery extends SearchQuery {
	readonly found: FoundIn | undefined;
	/** Called once what was found is missing. */
	onMiss: (missed: Missed) => void = () => {};

	constructor(query: SearchQuery, found?: FoundIn) {
		super(query);
		this.found = found;
	}

	/** The editor calls it, which does not declare it: what its commands search by. */
	create(): object {
		return new FoundMatches(this);
	}
}

/** Every how many numbers a place begins. */
const stride = 3;

/** Answers what the editor asks the searches of its own. */
class FoundMatches {
	readonly spec: FoundQuery;

	constructor(spec: FoundQuery) {
		this.spec = spec;
	}

	nextMatch(state: EditorState, from: number, to: number): Match | null {
		const { main } = state.selection;
		// With the beginning of what is selected the editor asks whether that is to be replaced.
		const isReplaced = from === to && from === main.from && !main.empty;
		const matches = this.#matchesIn(state.doc, isReplaced ? 'replace' : 'next');
		if (matches === undefined) return null;
		let at = this.#firstFrom(matches, to);
		const isHere = main.empty && matches.places[at * stride] === to && matches.places[at * stride + 1] === to;
		if (isHere) at++;
		const next = matchAt(matches, at);
		if (next !== undefined) return next;
		const first = matchAt(matches, 0);
		return first !== undefined && first.to <= from ? first : null;
	}

	prevMatch(state: EditorState, from: number, to: number): Match | null {
		const matches = this.#matchesIn(state.doc, 'previous');
		if (matches === undefined) return null;
		for (let at = this.#firstFrom(matches, from) - 1; at >= 0; at--) {
			const match = matchAt(matches, at);
			if (match !== undefined && match.to <= from) return match;
		}
		const last = matchAt(matches, matches.places.length / stride - 1);
		return last !== undefined && last.from >= to ? last : null;
	}

	matchAll(state: EditorState, limit: number): Match[] | null {
		// It selects a bounded number, and replaces any.
		const matches = this.#matchesIn(state.doc, limit > 1e6 ? 'replaceAll' : 'select');
		if (matches === undefined) return [];
		const count = matches.places.length / stride;
		if (count > limit) return null;
		return Array.from({ length: count }, (_, at) => matchAt(matches, at) as Match);
	}

	highlight({ doc }: EditorState, from: number, to: number, add: (from: number, to: number) => void): void {
		const { found } = this.spec;
		if (found?.doc !== doc || typeof found.matches === 'string') return;
		for (let at = Math.max(0, this.#firstFrom(found.matches, from) - 1); ; at++) {
			const match = matchAt(found.matches, at);
			if (match === undefined || match.from > to) return;
			if (match.to >= from && match.to > match.from) add(match.from, match.to);
		}
	}

	getReplacement({ at }: Match): string {
		const matches = this.spec.found?.matches;
		const replacements = typeof matches === 'object' ? matches.replacements : '';
		return typeof replacements === 'string' ? replacements : (replacements[at] ?? '');
	}

	#matchesIn(doc: Text, missed: Missed): Matches | undefined {
		const { found } = this.spec;
		if (found?.doc === doc && typeof found.matches === 'object') return found.matches;
		// What took too long would do so again.
		if (found?.doc !== doc || found.matches === 'notLoaded') this.spec.onMiss(missed);
		return undefined;
	}

	/** The number of the first match that begins there or behind it. */
	#firstFrom({ places }: Matches, position: number): number {
		let low = 0;
		let high = places.length / stride;
		while (low < high) {
			const middle = (low + high) >> 1;
			if ((places[middle * stride] as number) < position) low = middle + 1;
			else high = middle;
		}
		return low;
	}
}

function matchAt({ places }: Matches, at: number): Match | undefined {
	const from = places[at * stride];
	if (from === undefined) return undefined;
	return { from, to: places[at * stride + 1] as number, precise: places[at * stride + 2] === 1, at };
}
