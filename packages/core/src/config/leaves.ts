import { z } from 'zod';
import { configSchema, timeSpans } from './schema.js';

/** The dotted names of all settings, such as `uploads.maxFileSize`. */
export const settingNames: readonly string[] = leavesOf(configSchema, '').map(({ name }) => name);

/** Those that are time spans, in milliseconds once they are read. */
export const durationNames: readonly string[] = leavesOf(configSchema, '')
	.filter(({ type }) => timeSpans.has(type))
	.map(({ name }) => name);

function leavesOf(schema: z.ZodType, prefix: string): { name: string; type: z.ZodType }[] {
	const inner = unwrap(schema);
	if (!(inner instanceof z.ZodObject)) return [{ name: prefix, type: inner }];
	return Object.entries(inner.shape).flatMap(([key, child]) =>
		leavesOf(child as z.ZodType, prefix === '' ? key : `${prefix}.${key}`),
	);
}

function unwrap(schema: z.ZodType): z.ZodType {
	return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional
		? unwrap(schema.unwrap() as z.ZodType)
		: schema;
}

/** Splits `uploads.maxFileSize` into words: uploads, max, file, size. */
function words(name: string): string[] {
	return name.split('.').flatMap((part) => part.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`).split(' '));
}

/** The setting's variable: `a.bC` is `STOWAGE_A_B_C`. */
export function variableOf(name: string): string {
	return `STOWAGE_${words(name).join('_').toUpperCase()}`;
}

/** The setting's flag: `a.bC` is `--a-b-c`. */
export function flagOf(name: string): string {
	return `--${words(name).join('-')}`;
}
