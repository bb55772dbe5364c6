import { z } from 'zod';
import { maxAddress, maxChapters, maxLabel, maxTocItems, maxTocLevels } from '../epub/bookBounds.js';

/** What the page asks of its viewers' frame (`inFrame/viewerFrame.ts`). */
export type FrameCommand =
	| { kind: 'open'; content: FrameContent; keys: readonly string[] }
	| { kind: 'selectAll' }
	| { kind: 'ping' }
	| BookCommand;

/** What it asks of an open book. */
export type BookCommand =
	/** Shows a chapter, or another place of the one that is shown. */
	| ({ kind: 'chapter' } & BookPosition)
	/** A page forward or back. */
	| { kind: 'turn'; by: 1 | -1 }
	| { kind: 'textSize'; percent: number };

export type FrameContent =
	| { kind: 'book'; bytes: Uint8Array; fileName: string }
	| { kind: 'word'; bytes: Uint8Array; fileName: string }
	| { kind: 'drawing'; bytes: Uint8Array };

/** A reading position: a chapter by its index, and how far down one is in it, from 0 to 1, or an element of it. */
export interface BookPosition {
	chapter: number;
	down: number;
	fragment?: string | undefined;
}

/** A file that is shown in the frame. */
export interface FrameView {
	/** The page asks this of a book only. */
	run?(command: BookCommand): void;
	/** A link within the file was clicked. */
	follow(address: string): void;
}

const text = z.string().max(10_000);
/** A browser's own addresses are not longer. */
const address = z.string().max(10_000);
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

const countOf = (items: readonly TocItem[]): number => items.reduce((sum, item) => sum + 1 + countOf(item.items), 0);

const bookContents = z.object({
	title: text,
	creator: text,
	description: text,
	publisher: text,
	language: text,
	/** Paths within the book, in reading order; at least one. */
	chapters: z.array(pathInBook).min(1).max(maxChapters).readonly(),
	toc: tocLevel(maxTocLevels)
		.refine((items) => countOf(items) <= maxTocItems)
		.readonly(),
});

/** What the page shows of a book beside its text. */
export type BookContents = z.infer<typeof bookContents>;

/** What the frame says. It has read a stranger's file, so nothing of it is trusted. */
export const frameEvent = z.discriminatedUnion('kind', [
	z.object({ kind: z.literal('opened'), book: bookContents }),
	/** The content is on screen; the size of a drawing in pixels, 0 for anything else. */
	z.object({ kind: z.literal('shown'), width: z.number(), height: z.number() }),
	z.object({ kind: z.literal('failed'), reason: text.optional() }),
	z.object({ kind: z.literal('scrolled'), chapter: z.number(), down: z.number() }),
	/** A page was to be turned where the chapter ends. */
	z.object({ kind: z.literal('ended'), chapter: z.number(), by: z.literal([1, -1]) }),
	/** A link within the book was followed. */
	z.object({ kind: z.literal('followed'), href: address }),
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

/** Those that a viewer hears: the page itself answers keys and links. */
export type ContentEvent = Exclude<FrameEvent, { kind: 'key' | 'link' | 'pong' }>;
