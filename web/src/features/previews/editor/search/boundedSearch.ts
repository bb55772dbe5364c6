import {
	findNext,
	findPrevious,
	getSearchQuery,
	replaceAll,
	replaceNext,
	search,
	searchKeymap,
	searchPanelOpen,
	selectMatches,
	selectNextOccurrence,
	selectSelectionMatches,
	setSearchQuery,
} from '@codemirror/search';
import { EditorState, type Extension, StateField, type Text } from '@codemirror/state';
import {
	type Command,
	type EditorView,
	type KeyBinding,
	keymap,
	type PanelConstructor,
	showPanel,
	ViewPlugin,
	type ViewUpdate,
} from '@codemirror/view';
import { runInWorker } from '../../common/bytes/runInWorker.js';
import { editorMessages as messages } from '../messages.js';
import { type FoundIn, FoundQuery, type Missed } from './FoundQuery.js';
import type { Matches, SearchTask } from './findMatches.js';
import { overlapsOf } from './overlaps.js';

/** A search of any sense takes a few milliseconds; a slow machine may take long to start its worker. */
const maxWorkerMs = 5000;

/** Milliseconds after the last typed character until a search begins. */
const pauseMs = 100;

/** A bound on searches outside of the worker: characters of the text times beginnings that may match at once. */
const maxWork = 10_000_000;

/**
 * Find and replace, by texts and expressions of which none holds the page up: a worker searches, and is ended where
 * that takes too long, which is then said.
 */
export function boundedSearch(): Extension {
	return [search({ top: true }), foundQueries, searching, trouble, keymap.of(searchKeymap.map(withBound))];
}

/** Whatever query the editor makes becomes one that does not search by itself. */
const foundQueries = EditorState.transactionFilter.of((transaction) => {
	const query = transaction.effects.findLast((effect) => effect.is(setSearchQuery))?.value;
	if (query === undefined || query instanceof FoundQuery) return transaction;
	return [transaction, { effects: setSearchQuery.of(new FoundQuery(query)) }];
});

const commands: Readonly<Record<Missed, Command>> = {
	next: findNext,
	previous: findPrevious,
	select: selectMatches,
	replace: replaceNext,
	replaceAll,
};

const searching = ViewPlugin.fromClass(
	class {
		readonly #view: EditorView;
		#running: { query: FoundQuery; doc: Text; end: AbortController } | undefined;
		/** What was asked for before it was found, and is done then. */
		#missed: Missed | undefined;

		constructor(view: EditorView) {
			this.#view = view;
		}

		update({ state }: ViewUpdate): void {
			const query = getSearchQuery(state);
			if (!(query instanceof FoundQuery)) return;
			query.onMiss = (missed) => {
				this.#missed = missed;
				this.#find(query, 0);
			};
			const isSame = this.#running?.doc === state.doc && this.#running.query.eq(query);
			if (!isSame) this.#end();
			if (query.valid && searchPanelOpen(state) && query.found?.doc !== state.doc) this.#find(query, pauseMs);
		}

		destroy(): void {
			this.#end();
		}

		#end(): void {
			this.#running?.end.abort();
			this.#running = undefined;
			this.#missed = undefined;
		}

		#find(query: FoundQuery, afterMs: number): void {
			if (this.#running !== undefined) return;
			const end = new AbortController();
			const { doc } = this.#view.state;
			this.#running = { query, doc, end };
			setTimeout(async () => {
				if (end.signal.aborted) return;
				const matches = await matchesOf(this.#view.state, query, end.signal);
				if (end.signal.aborted) return;
				const missed = this.#missed;
				this.#end();
				this.#view.dispatch({ effects: setSearchQuery.of(new FoundQuery(query, { doc, matches })) });
				if (missed !== undefined && typeof matches === 'object') commands[missed](this.#view);
			}, afterMs);
		}
	},
);

async function matchesOf(state: EditorState, query: FoundQuery, signal: AbortSignal): Promise<FoundIn['matches']> {
	const { caseSensitive, regexp, wholeWord, replace } = query;
	const wordChars = state.languageDataAt<string>('wordChars', state.selection.main.head).join('');
	const text = state.doc.toString();
	const task: SearchTask = { text, search: query.search, caseSensitive, regexp, wholeWord, replace, wordChars };
	const worker = new Worker(new URL('./searchWorker.ts', import.meta.url), { type: 'module' });
	try {
		const ended = AbortSignal.any([signal, AbortSignal.timeout(maxWorkerMs)]);
		return (await runInWorker<Matches>(worker, task, ended)) ?? 'tooSlow';
	} catch {
		return 'notLoaded';
	}
}

/** Says below the fields that a search was given up, or could not begin. */
const trouble = StateField.define<string | undefined>({
	create: () => undefined,
	update: (_, { state }) => {
		const query = getSearchQuery(state);
		if (!searchPanelOpen(state) || !(query instanceof FoundQuery) || query.found?.doc !== state.doc) return undefined;
		const { matches } = query.found;
		return typeof matches === 'string' ? messages.searchTroubles[matches] : undefined;
	},
	provide: (field) => showPanel.from(field, (sentence) => (sentence === undefined ? null : troublePanel(sentence))),
});

function troublePanel(sentence: string): PanelConstructor {
	return () => {
		const dom = document.createElement('p');
		dom.className = 'cm-search-trouble';
		dom.setAttribute('role', 'alert');
		dom.textContent = sentence;
		return { dom, top: true };
	};
}

/** The two keys that select what else is as what is selected do so at once, and nothing where that could take long. */
function withBound(binding: KeyBinding): KeyBinding {
	const { run } = binding;
	if (run !== selectNextOccurrence && run !== selectSelectionMatches) return binding;
	const isQuick = ({ state }: EditorView) => {
		const { from, to } = state.selection.main;
		return overlapsOf(state.sliceDoc(from, to).normalize('NFKD')) * state.doc.length <= maxWork;
	};
	return { ...binding, run: (view) => isQuick(view) && run(view) };
}
