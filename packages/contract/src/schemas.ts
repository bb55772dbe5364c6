import { type Entry, maxSearchLength, memberRoles, parsePath, searchKinds, sortModes } from '@stowage/rules';
import { z } from 'zod';

/** A path relative to its area's root; parsed here once, so that no route sees an unchecked one. */
export const path = z.string().transform((text, context) => {
	try {
		return parsePath(text);
	} catch {
		context.addIssue({ code: 'custom', message: 'is not a valid path', params: { kind: 'invalidPath' } });
		return z.NEVER;
	}
});

/** The path of something other than the root. */
export const itemPath = path.refine((value) => value !== '', { message: 'must not be empty' });

/** Work that is divided into time slices, as a server's is. */
interface Slices {
	readonly shouldYield: boolean;
	yield(): Promise<void>;
}

let newSlices: () => Slices = () => ({ shouldYield: false, yield: async () => {} });

/** Sets how lists are parsed from now on: those of a server may be long, and others wait meanwhile. */
export function parseListsInSlices(create: () => Slices): void {
	newSlices = create;
}

/**
 * An array of at most this many items, which is parsed asynchronously. Only the first invalid one is reported: an error for each of a
 * hundred thousand would cost more than the call.
 */
export function listOf<Item extends z.ZodType>(item: Item, limit: number) {
	const list = z
		.array(z.unknown())
		.max(limit)
		.transform(async (values, context): Promise<z.output<Item>[]> => {
			const slices = newSlices();
			const parsed: z.output<Item>[] = [];
			for (const [index, value] of values.entries()) {
				if (slices.shouldYield) await slices.yield();
				const result = item.safeParse(value);
				if (!result.success) {
					const [issue] = result.error.issues;
					context.issues.push({ ...issue, path: [index, ...(issue?.path ?? [])], input: value } as z.core.$ZodRawIssue);
					return z.NEVER;
				}
				parsed.push(result.data);
			}
			return parsed;
		});
	return list as unknown as z.ZodType<z.output<Item>[], z.input<Item>[]>;
}

export const area = z.enum(['private', 'public', 'shared']);

/** An owner in JSON: a user name, `'anonymous'`, or `null` (or `''`) for ownerless. */
export const owner = z
	.string()
	.max(64)
	.nullable()
	.transform((name) => (name === '' ? null : name));

/** An owner in a query: the empty string is ownerless. */
export const queryOwner = z
	.string()
	.max(64)
	.transform((name) => (name === '' ? null : name));

const wholeNumber = z
	.string()
	.regex(/^\d{1,16}$/, 'must be a whole number')
	.transform(Number);

/** What a listing may be searched by. With a filter the term may be left out. */
export const searching = {
	search: z.string().max(maxSearchLength, `must have at most ${maxSearchLength} characters`).optional(),
	/** Several by comma. */
	kind: z
		.string()
		.max(100)
		.transform((kinds) => kinds.split(','))
		.pipe(z.array(z.enum(searchKinds)))
		.optional(),
	/** Bytes. */
	minSize: wholeNumber.optional(),
	maxSize: wholeNumber.optional(),
	/** Milliseconds since the epoch. */
	after: wholeNumber.optional(),
	before: wholeNumber.optional(),
};

/**
 * The order in which the rows of a folder are wanted. The listing says `sorted` if they are in it; large folders come
 * as they are read. Ignored by a search.
 */
export const wantedOrder = { sort: z.enum(sortModes).optional() };

export const settings = z.strictObject({ promptBeforeDownload: z.boolean(), enablePreview: z.boolean() });

/** Each key of the rules' `Entry`, and no other: the two can't differ. */
export const entry = z.object({
	name: z.string(),
	path: z.string(),
	type: z.enum(['file', 'directory']),
	size: z.number(),
	mtime: z.number(),
	owner: z.string().nullable().optional(),
	count: z.number().optional(),
	protected: z.literal(true).optional(),
	unreadable: z.literal(true).optional(),
	role: z.enum(memberRoles).optional(),
	members: z.number().optional(),
	versions: z.number().optional(),
} satisfies { [Key in keyof Entry]-?: z.ZodType<Entry[Key]> });

/**
 * What happens to an item that has the wished name already: the new one gets another name (the default), it replaces the file, or it is
 * refused.
 */
export const onConflict = z.enum(['rename', 'replace', 'fail']);

/** The version that may be replaced, and no other: an `ETag` of a download with its quotes, several by comma, or `*`. */
export const ifMatch = z
	.string()
	.max(1000)
	.regex(
		/^(?:\*|(?:W\/)?"[!#-~\u0080-\u00ff]*"(?:, *(?:W\/)?"[!#-~\u0080-\u00ff]*")*)$/,
		'must be an ETag with its quotes, as a download has it',
	);

/** Optional fields of each call that brings items. */
export const replacing = { onConflict: onConflict.optional(), ifMatch: ifMatch.optional() };

export const listing = z.object({
	type: area,
	directory: z.string(),
	entries: z.array(entry),
	truncated: z.literal(true).optional(),
	/** The order of `entries`, if it was asked for and is kept. */
	sorted: z.enum(sortModes).optional(),
	/** In the results of a search: when the index was current, in milliseconds since the epoch; null where the disk was read instead. */
	indexedAt: z.number().nullable().optional(),
	/** In a shared folder: its owner, and what the caller may do in it. An entry has a role of its own where that differs. */
	owner: z.string().optional(),
	role: z.enum(memberRoles).optional(),
	/** Owners whose public trees are not shown, since their disk is not available. */
	missing: z.array(z.string().nullable()).optional(),
});

export const message = z.object({ message: z.string() });
export const messageWithEntry = z.object({ message: z.string(), entry });
export const uploaded = z.object({ message: z.string(), entries: z.array(entry) });

/** Every error answer. `error` and `message` are the same sentence for people; `code` is the word for programs. */
export const errorAnswer = z.object({
	statusCode: z.number(),
	code: z.string(),
	error: z.string(),
	message: z.string(),
	requestId: z.string().optional(),
});
