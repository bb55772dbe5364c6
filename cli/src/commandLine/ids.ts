import { Failure } from '@stowage/rules';

/** Shorter beginnings are too easily those of another id. */
const shortest = 4;

/** So many are named where several begin alike. */
const maxNamed = 10;

/**
 * The id that begins with what was typed, if only one of these does. An id that is none of them is returned as it was typed, for its
 * service to refuse. Throws `invalid` for a beginning that is too short, and `conflict` with the candidates for one of several.
 */
export async function idOf(typed: string, ids: Iterable<string> | AsyncIterable<string>): Promise<string> {
	const candidates: string[] = [];
	for await (const id of ids) {
		if (id === typed) return id;
		if (id.startsWith(typed)) candidates.push(id);
	}
	if (typed.length < shortest)
		throw new Failure('invalid', `Type at least the first ${shortest} characters of an id, and not ${typed}.`);
	const [only = typed, ...others] = candidates;
	if (others.length === 0) return only;
	const further = candidates.length > maxNamed ? ', ...' : '';
	throw new Failure(
		'conflict',
		`${candidates.length} ids begin with ${typed}: ${candidates.slice(0, maxNamed).join(', ')}${further}. Type more of it.`,
	);
}
