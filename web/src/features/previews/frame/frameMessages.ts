import { z } from 'zod';
import { maxLink } from '../common/markup/linkBounds.js';
import { maxAddress, maxChapters, maxLabel, maxTocItems, maxTocLevels } from '../epub/bookBounds.js';
import { maxOutlineItems, maxOutlineLevels, maxTitle } from '../pdf/pdfBounds.js';

/** What the page asks of its viewers' frame (`inFrame/viewerFrame.ts`). */
export type FrameCommand =
	| { kind: 'open'; content: FrameContent; keys: readonly string[] }
	| { kind: 'selectAll' }
	| { kind: 'ping' }
	| BookCommand
	| PdfCommand
	| ZoomCommand;

/** What it asks of an open book. */
export type BookCommand =
	/** Shows a chapter, or another place of the one that is shown. */
	| ({ kind: 'chapter' } & BookPosition)
	/** A page forward or back. */
	| { kind: 'turn'; by: 1 | -1 }
	| { kind: 'textSize'; percent: number };

/** What it asks of an open PDF. */
export type PdfCommand =
	/** A part of the file that was asked for. */
	| { kind: 'bytes'; begin: number; bytes: Uint8Array }
	| { kind: 'goToPage'; page: number }
	/** `destination` is a number in the outline. */
	| { kind: 'goToDestination'; destination: number }
	/** Searches a text; an empty one ends the search. */
	| { kind: 'find'; query: string; step: 'first' | 'next' | 'previous' };

/** What it asks of the pages of a PDF or a document. */
export type ZoomCommand = { kind: 'zoom'; to: 'in' | 'out' };

export type FrameContent =
	| { kind: 'book'; bytes: Uint8Array; fileName: string }
	| { kind: 'word'; bytes: Uint8Array; fileName: string }
	| { kind: 'drawing'; bytes: Uint8Array }
	/** The parts of the file are requested as they are needed. */
	| { kind: 'pdf'; size: number; fileName: string };

/**
 * A reading position: a chapter by its index (behind all chapters come the asides), and how far down one is in it, from 0 to 1, or an
 * element of it.
 */
export interface BookPosition {
	chapter: number;
	down: number;
	fragment?: string | undefined;
}

/** A file that is shown in the frame. */
export interface FrameView {
	/** The page asks this of a book, a PDF or a document only. */
	run?(command: BookCommand | PdfCommand | ZoomCommand): void;
	/** A link within the file was clicked. */
	follow(address: string): void;
}

const text = z.string().max(10_000);
const address = z.string().max(maxLink);
const pathInBook = z.string().max(maxAddress);

export interface TocItem {
	label: string;
	/** Its target, as a path within the book, perhaps with a fragment. */
	href: string;
	items: readonly TocItem[];
}

/** A schema for each level: one that contained itself would follow as many levels as a frame says there are. */
function tocLevel(left: number): z.ZodType<TocItem[]> {
	const label = z.string().max(maxLabel);
	const items = left > 1 ? tocLevel(left - 1) : z.array(z.never());
	return z.array(z.object({ label, href: pathInBook, items })).max(maxTocItems);
}

interface Nested {
	items: readonly Nested[];
}

const countOf = (items: readonly Nested[]): number => items.reduce((sum, item) => sum + 1 + countOf(item.items), 0);

const bookContents = z.object({
	title: text,
	creator: text,
	description: text,
	publisher: text,
	language: text,
	/** Paths within the book, in reading order; at least one. */
	chapters: z.array(pathInBook).min(1).max(maxChapters).readonly(),
	/** Files beside the reading order, such as notes: only links lead there. */
	asides: z.array(pathInBook).max(maxChapters).readonly(),
	toc: tocLevel(maxTocLevels)
		.refine((items) => countOf(items) <= maxTocItems)
		.readonly(),
});

/** What the page shows of a book beside its text. */
export type BookContents = z.infer<typeof bookContents>;

export interface OutlineItem {
	title: string;
	/** The number of its target; undefined for a heading or for an external link. */
	destination: number | undefined;
	items: readonly OutlineItem[];
}

function outlineLevel(left: number): z.ZodType<OutlineItem[]> {
	const title = z.string().max(maxTitle);
	const destination = z.union([z.number(), z.undefined()]);
	const items = left > 1 ? outlineLevel(left - 1) : z.array(z.never());
	return z.array(z.object({ title, destination, items })).max(maxOutlineItems);
}

/** What the frame says. It has read a stranger's file, so nothing of it is trusted. */
export const frameEvent = z.discriminatedUnion('kind', [
	z.object({ kind: z.literal('opened'), book: bookContents }),
	/** The content, but for a book's, is on screen; the size of a drawing in pixels, 0 for anything else. */
	z.object({ kind: z.literal('shown'), width: z.number(), height: z.number() }),
	z.object({ kind: z.literal('failed'), reason: text.optional() }),
	/** A chapter of a book is on screen. */
	z.object({ kind: z.literal('chapterShown'), chapter: z.number() }),
	/** One is broken, or there is too much of it: the book stays open. */
	z.object({ kind: z.literal('chapterFailed'), chapter: z.number() }),
	z.object({ kind: z.literal('scrolled'), chapter: z.number(), down: z.number() }),
	/** A page was to be turned where the chapter ends. */
	z.object({ kind: z.literal('ended'), chapter: z.number(), by: z.literal([1, -1]) }),
	/** A link within the book was followed, from this far down. */
	z.object({ kind: z.literal('followed'), href: address, down: z.number() }),
	/** A PDF is open. */
	z.object({
		kind: z.literal('paged'),
		pages: z.number(),
		outline: outlineLevel(maxOutlineLevels)
			.refine((items) => countOf(items) <= maxOutlineItems)
			.readonly(),
	}),
	/** Bytes of a PDF are needed, up to but without `end`. */
	z.object({ kind: z.literal('part'), begin: z.int().min(0), end: z.int().min(1) }),
	z.object({ kind: z.literal('page'), page: z.number() }),
	/** The scale of the pages of a PDF or a document. */
	z.object({ kind: z.literal('scale'), scale: z.number() }),
	/** The results of a search in a PDF. */
	z.object({ kind: z.literal('found'), current: z.number(), total: z.number() }),
	/** A link that leads elsewhere was clicked. */
	z.object({ kind: z.literal('link'), address }),
	z.object({
		kind: z.literal('key'),
		key: z.string().max(40),
		code: z.string().max(40),
		ctrlKey: z.boolean(),
		metaKey: z.boolean(),
		altKey: z.boolean(),
		shiftKey: z.boolean(),
	}),
	z.object({ kind: z.literal('pong') }),
]);

export type FrameEvent = z.infer<typeof frameEvent>;

/** The events that a viewer hears: the page itself answers keys and links. */
export type ContentEvent = Exclude<FrameEvent, { kind: 'key' | 'link' | 'pong' }>;
