import { z } from '@stowage/plugin-api';
import { conversionFormats, conversionQuality } from '@stowage/rules';

/** The request of a user; stored in the database until the job has ended. */
export const conversion = z.strictObject({
	area: z.enum(['private', 'public', 'shared']),
	path: z.string(),
	/** The id of the shared folder that the file was in when it was requested: by now another owner's folder may have its name. */
	folderId: z.string().optional(),
	/** The film as it was requested: by now another one may be at its path. An older version did not save it. */
	source: z.object({ id: z.string(), version: z.string(), size: z.number(), mtime: z.number() }).optional(),
	/** The full wished name. */
	outputName: z.string(),
	format: z.enum(conversionFormats),
	quality: z.int().min(conversionQuality.min).max(conversionQuality.max),
	deleteOriginal: z.boolean(),
});

export type Conversion = z.infer<typeof conversion>;

const encoded = {
	staged: z.string(),
	/** The object that was converted, as it was. */
	source: z.object({ id: z.string(), version: z.string() }),
	/** Where it was then; an older version knew the path of the request only. */
	path: z.string().optional(),
	/** The id of the folder that it was in, which may be renamed meanwhile; none at the top of an area, and from an older version. */
	folderItemId: z.string().optional(),
	sizeBefore: z.number(),
	sizeAfter: z.number(),
	/**
	 * What the output lacks of the original, in words; the original is deleted only if that is nothing. Saved by an older version, it is
	 * not known.
	 */
	losses: z.array(z.string()).default(['what was not checked then']),
};

/** The state that a run continues from. A step is saved when it is done and before the next one begins. */
export const conversionStep = z.discriminatedUnion('step', [
	z.object({ step: z.literal('encoding'), staged: z.string() }),
	/** The staged file is complete, checked and durable. */
	z.object({ step: z.literal('encoded'), ...encoded }),
	z.object({
		...{ step: z.literal('published'), ...encoded, name: z.string(), outputId: z.string() },
		/** The folder that it was published in; an older version did not save it, and published beside the original only. */
		folder: z.string().optional(),
		/** When the output was modified, as it was published; an older version did not save it. */
		outputMtime: z.number().optional(),
		/** Whether the removal of the original has begun: where there is none any more, it was this. */
		isRemoving: z.boolean().default(false),
	}),
]);

export type ConversionStep = z.infer<typeof conversionStep>;
export type EncodedStep = Extract<ConversionStep, { step: 'encoded' }>;
export type PublishedStep = Extract<ConversionStep, { step: 'published' }>;
