import { Failure } from '@stowage/rules';
import type { z } from 'zod';

/** Parses untrusted input. Throws `invalid` (or `invalidPath`) with the field's name in the message. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
	const result = schema.safeParse(input);
	if (result.success) return result.data;
	const issue = result.error.issues[0];
	if (issue === undefined) throw new Failure('invalid', 'The request is not valid.');
	const isPath = issue.code === 'custom' && issue.params?.kind === 'invalidPath';
	throw new Failure(isPath ? 'invalidPath' : 'invalid', describeIssue(issue));
}

/** One sentence for people: the field, and what is wrong with it. */
export function describeIssue(issue: z.core.$ZodIssue): string {
	const where = issue.path.map(String).join('.');
	if (issue.code === 'unrecognized_keys') {
		const names = issue.keys.map((key) => (where === '' ? key : `${where}.${key}`)).join(', ');
		return `Unknown field: ${names}`;
	}
	return where === '' ? issue.message : `${where}: ${issue.message}`;
}
