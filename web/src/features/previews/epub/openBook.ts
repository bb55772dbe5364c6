import { maxLink } from '../common/markup/linkBounds.js';
import type { BookCommand, BookPosition, FrameContent, FrameEvent, FrameView } from '../frame/frameMessages.js';
import { bookPaths } from './bookPaths.js';
import { readBook, UnreadableBook } from './readBook.js';
import { renderChapter } from './renderChapter.js';

const savePositionMs = 300;
/** The last line of a page is the first of the next. */
const pageShare = 0.9;

/** Opens a book in the frame; its chapters are shown as the page asks. Throws for one that is too large, or none at all. */
export function openBook(
	{ bytes, fileName }: Extract<FrameContent, { kind: 'book' }>,
	say: (event: FrameEvent) => void,
): FrameView {
	const book = read();
	if (!book) return { follow: () => {} };
	const { zip: _, typeOf: __, ...contents } = book;
	say({ kind: 'opened', book: contents });
	const chapters = [...book.chapters, ...book.asides];

	let shown = -1;
	let hasFailed = false;
	let release = () => {};
	let timer: ReturnType<typeof setTimeout> | undefined;
	document.addEventListener('scroll', () => {
		clearTimeout(timer);
		timer = setTimeout(() => say({ kind: 'scrolled', chapter: shown, down: scrolledShare() }), savePositionMs);
	});

	function read() {
		try {
			return readBook(bytes, fileName);
		} catch (cause) {
			if (!(cause instanceof UnreadableBook)) throw cause;
			say({ kind: 'failed', reason: cause.message });
			return undefined;
		}
	}

	function show({ chapter, down, fragment }: BookPosition) {
		if (chapter !== shown || hasFailed) {
			clearTimeout(timer);
			release();
			release = () => {};
			shown = chapter;
			hasFailed = false;
			try {
				release = renderChapter(book as NonNullable<typeof book>, chapters[chapter] ?? '');
			} catch {
				// It is broken, or there is too much of it.
				hasFailed = true;
				document.body.replaceChildren();
				say({ kind: 'chapterFailed', chapter });
				return;
			}
		}
		goTo(fragment, down);
		// Once it is painted, which may keep the browser busy.
		requestAnimationFrame(() =>
			setTimeout(() => {
				if (chapter === shown && !hasFailed) say({ kind: 'chapterShown', chapter });
			}),
		);
	}

	return {
		run(command: BookCommand) {
			if (command.kind === 'chapter') show(command);
			else if (command.kind === 'turn') {
				if (!turn(command.by)) say({ kind: 'ended', chapter: shown, by: command.by });
			} else document.documentElement.style.setProperty('font-size', `${command.percent}%`);
		},
		follow(address) {
			const href = bookPaths()(chapters[shown] ?? '', address);
			if (href.length <= maxLink) say({ kind: 'followed', href, down: scrolledShare() });
		},
	};
}

function goTo(fragment: string | undefined, down: number): void {
	const target = fragment === undefined ? null : document.getElementById(fragment);
	const scroller = document.documentElement;
	if (target) target.scrollIntoView();
	else scroller.scrollTop = down * (scroller.scrollHeight - scroller.clientHeight);
}

/** Whether there was a page to turn. */
function turn(by: 1 | -1): boolean {
	const scroller = document.documentElement;
	const before = scroller.scrollTop;
	scroller.scrollTop += by * scroller.clientHeight * pageShare;
	return Math.abs(scroller.scrollTop - before) >= 2;
}

/** How far down a chapter has been read, from 0 to 1. */
function scrolledShare(): number {
	const { scrollTop, scrollHeight, clientHeight } = document.documentElement;
	return scrollHeight > clientHeight ? scrollTop / (scrollHeight - clientHeight) : 0;
}
