import type { BookContents, BookPosition } from '../frame/frameMessages.js';

/** How far a book has been opened, and where in it its reader is. */
export type Reading =
	| { status: 'loading'; position: BookPosition }
	| { status: 'open'; book: BookContents; position: BookPosition }
	| { status: 'failed'; reason: string | undefined };

export type ReadingAction =
	| { kind: 'opened'; book: BookContents }
	| { kind: 'failed'; reason?: string | undefined }
	/** To the chapter before or after. */
	| { kind: 'stepped'; by: 1 | -1 }
	/** A page was to be turned where this chapter ends. */
	| { kind: 'ended'; chapter: number; by: 1 | -1 }
	/** A link, or a line of the table of contents. */
	| { kind: 'followed'; href: string };

export function nextReading(reading: Reading, action: ReadingAction): Reading {
	if (action.kind === 'failed') return { status: 'failed', reason: action.reason };
	if (reading.status === 'failed') return reading;
	if (action.kind === 'opened') {
		const { chapter } = reading.position;
		// The book may have had more chapters when it was read last.
		const last = action.book.chapters.length - 1;
		const position = chapter > last ? { chapter: last, down: 0 } : reading.position;
		return { status: 'open', book: action.book, position };
	}
	if (reading.status !== 'open') return reading;
	const { book, position } = reading;
	const show = (chapter: number, at: Omit<BookPosition, 'chapter'>): Reading =>
		chapter >= 0 && chapter < book.chapters.length ? { ...reading, position: { chapter, ...at } } : reading;
	switch (action.kind) {
		case 'stepped':
			return show(position.chapter + action.by, { down: 0 });
		case 'ended':
			// Said before another chapter was chosen, it has no meaning any more.
			if (action.chapter !== position.chapter) return reading;
			return show(position.chapter + action.by, { down: action.by < 0 ? 1 : 0 });
		case 'followed': {
			const [path = '', fragment] = action.href.split('#', 2);
			return show(book.chapters.indexOf(path), { down: 0, fragment });
		}
	}
}

/** From the form in which it is stored. */
export function parsePosition(stored: string | undefined): BookPosition {
	const [chapter, down] = (stored ?? '').split(':').map(Number);
	if (chapter === undefined || !Number.isInteger(chapter) || chapter < 0) return { chapter: 0, down: 0 };
	return { chapter, down: down !== undefined && down >= 0 && down <= 1 ? down : 0 };
}

export function storedPosition({ chapter, down }: BookPosition): string {
	return `${chapter}:${down.toFixed(4)}`;
}
