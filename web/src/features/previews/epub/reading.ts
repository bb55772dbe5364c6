import type { BookContents, BookPosition } from '../frame/frameMessages.js';

/** How far a book has been opened, and where in it its reader is. */
export type Reading =
	| { status: 'loading'; position: BookPosition }
	| {
			status: 'open';
			book: BookContents;
			position: BookPosition;
			/** Whether the chapter at the position is on screen, or can't be. */
			chapter: 'wanted' | 'shown' | 'failed';
			/** Where an aside was left for that is shown now. */
			from?: BookPosition | undefined;
			/** Whether the frame has the book: not so in one that is made anew. */
			isReady: boolean;
	  }
	| { status: 'failed'; reason: string | undefined };

export type ReadingAction =
	| { kind: 'opened'; book: BookContents }
	| { kind: 'failed'; reason?: string | undefined }
	/** The frame was silent for so long that it is made anew. */
	| { kind: 'silent' }
	| { kind: 'chapterShown' | 'chapterFailed'; chapter: number }
	/** The user went to the chapter before or after. */
	| { kind: 'stepped'; by: 1 | -1 }
	/** A page was to be turned where this chapter ends. */
	| { kind: 'ended'; chapter: number; by: 1 | -1 }
	/** A link, from this far down, or a line of the table of contents. */
	| { kind: 'followed'; href: string; down?: number };

export function nextReading(reading: Reading, action: ReadingAction): Reading {
	if (action.kind === 'failed') return { status: 'failed', reason: action.reason };
	if (reading.status === 'failed') return reading;
	if (action.kind === 'opened') {
		if (reading.status === 'open') return { ...reading, isReady: true };
		const { chapter } = reading.position;
		// The book may have had more chapters when it was read last.
		const last = action.book.chapters.length - 1;
		const position = chapter > last ? { chapter: last, down: 0 } : reading.position;
		return { status: 'open', book: action.book, position, chapter: 'wanted', isReady: true };
	}
	if (reading.status !== 'open') return action.kind === 'silent' ? { status: 'failed', reason: undefined } : reading;
	const { book, position } = reading;
	const show = (chapter: number, at: Omit<BookPosition, 'chapter'>): Reading =>
		chapter >= 0 && chapter < book.chapters.length
			? { ...reading, position: { chapter, ...at }, chapter: 'wanted', from: undefined }
			: reading;
	/** Goes back from an aside to where the book was left. */
	const goBack = (from: BookPosition) => show(from.chapter, { down: from.down });
	// A book of one chapter has nothing else to read.
	const fail = (isReady: boolean): Reading =>
		book.chapters.length + book.asides.length === 1
			? { status: 'failed', reason: undefined }
			: { ...reading, chapter: 'failed', isReady };
	switch (action.kind) {
		case 'silent':
			// The book alone keeps it busy.
			return reading.isReady ? fail(false) : { status: 'failed', reason: undefined };
		case 'chapterShown':
			return action.chapter === position.chapter && reading.chapter === 'wanted'
				? { ...reading, chapter: 'shown' }
				: reading;
		case 'chapterFailed':
			return action.chapter === position.chapter ? fail(reading.isReady) : reading;
		case 'stepped':
			return reading.from ? goBack(reading.from) : show(position.chapter + action.by, { down: 0 });
		case 'ended':
			// Said before another chapter was chosen, it has no meaning any more.
			if (action.chapter !== position.chapter) return reading;
			if (reading.from) return goBack(reading.from);
			return show(position.chapter + action.by, { down: action.by < 0 ? 1 : 0 });
		case 'followed': {
			const [path = '', fragment] = action.href.split('#', 2);
			const aside = book.asides.indexOf(path);
			if (aside === -1 || book.chapters.includes(path)) return show(book.chapters.indexOf(path), { down: 0, fragment });
			return {
				...reading,
				position: { chapter: book.chapters.length + aside, down: 0, fragment },
				chapter: 'wanted',
				from: reading.from ?? { chapter: position.chapter, down: action.down ?? position.down },
			};
		}
	}
}

/** Parses the form in which a position is stored. */
export function parsePosition(stored: string | undefined): BookPosition {
	const [chapter, down] = (stored ?? '').split(':').map(Number);
	if (chapter === undefined || !Number.isInteger(chapter) || chapter < 0) return { chapter: 0, down: 0 };
	return { chapter, down: down !== undefined && down >= 0 && down <= 1 ? down : 0 };
}

export function storedPosition({ chapter, down }: BookPosition): string {
	return `${chapter}:${down.toFixed(4)}`;
}
