import { Failure } from '@stowage/rules';

/** A shorter beginning is too likely to be that of another id by a typing error. */
const minLength = 4;

/** How many candidates the error for an ambiguous beginning names. */
const maxNamed = 10;

/**
 * The one of `ids` that begins with what was typed. What none begins with is returned as it was typed, for the service that gets it to
 * refuse. Throws `invalid` for a beginning that is too short, and `conflict`, which names the candidates, where several begin with it.
 */
export async function resolveId(typed: string, ids: Iterable<string> | AsyncIterable<string>): Promise<string> {
	const candidates: string[] = [];
	for await (const id of ids) {
		if (id === typed) return id;
		if (id.startsWith(typed)) candidates.push(id);
	}
	if (typed.length < minLength)
		throw new Failure('invalid', `Type at least the first ${minLength} characters of an id, and not ${typed}.`);
	const [only = typed, ...others] = candidates;
	if (others.length === 0) return only;
	const further = candidates.length > maxNamed ? ', ...' : '';
	throw new Failure(
		'conflict',
		`${candidates.length} ids begin with ${typed}: ${candidates.slice(0, maxNamed).join(', ')}${further}. Type more of it.`,
	);
}
