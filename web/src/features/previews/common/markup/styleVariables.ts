import { plainNames } from './cssTokens.js';
import { type Declaration, readValue, type Value } from './styleDeclarations.js';

/** A number for what doubles without an end. Endless times no element would be no number. */
const endless = Number.MAX_SAFE_INTEGER;

/** A value of a variable. */
interface Assigned {
	weight: number;
	/** Names of other variables that it takes, each as often as it is there. */
	variables: readonly string[];
}

/**
 * What a variable stands for at most, by the weights of its values with those of the variables in them. Where some stand for each other, as
 * elements within each other may have them by turns, they are made of themselves at each of `depth` levels; those that double do so without
 * an end.
 */
export function variableWeights(
	declarations: readonly Declaration[],
	depth: number,
	weigh: (value: Value) => number,
): (name: string) => number {
	const values = assignedIn(declarations, weigh);
	const circling = circlingNames(values);
	const isCircling = (name: string) => circling.has(name);
	const known = new Map<string, number>();
	const most = (name: string, of: (assigned: Assigned) => number) =>
		(values.get(name) ?? []).reduce((all, assigned) => Math.max(all, of(assigned)), 0);
	const sum = (names: Iterable<string>) => [...names].reduce((all, name) => all + weightOf(name), 0);
	let ofCircles: number | undefined;
	const weightOfCircles = () => {
		const all = [...circling];
		const doubles = all.some((name) => most(name, ({ variables }) => variables.filter(isCircling).length) > 1);
		if (doubles) return endless;
		const turn = (assigned: Assigned) => assigned.weight + sum(assigned.variables.filter((each) => !isCircling(each)));
		return depth * all.reduce((weights, name) => weights + most(name, turn), 0);
	};
	const weightOf = (name: string): number => {
		if (isCircling(name)) {
			ofCircles ??= weightOfCircles();
			return ofCircles;
		}
		const weight =
			known.get(name) ??
			Math.min(
				endless,
				most(name, ({ weight, variables }) => weight + sum(variables)),
			);
		known.set(name, weight);
		return weight;
	};
	return weightOf;
}

/** The variables that an at-rule registers. */
export const registeredBy = (prelude: string | undefined): string[] =>
	prelude !== undefined && /^@property/i.test(prelude)
		? (plainNames(prelude).match(/--[^\s{]+/) ?? []).slice(0, 1)
		: [];

function assignedIn(declarations: readonly Declaration[], weigh: (value: Value) => number): Map<string, Assigned[]> {
	const values = new Map<string, Assigned[]>();
	/** What at-rules name, each of which is searched once: it may be as long as the style sheet, and have any number of declarations. */
	const named = new Map<string, string | undefined>();
	const propertyIn = (prelude: string) => {
		if (!named.has(prelude)) named.set(prelude, registeredBy(prelude)[0]);
		return named.get(prelude);
	};
	for (const { prelude, name, value } of declarations) {
		const property = name === 'initial-value' && prelude !== undefined ? propertyIn(prelude) : undefined;
		const variable = property ?? (name.startsWith('--') ? name : undefined);
		if (variable === undefined) continue;
		const read = readValue(value);
		const all = values.get(variable) ?? [];
		// One that is made of itself stands for nothing.
		all.push({ weight: weigh(read), variables: read.variables.filter((each) => each !== variable) });
		values.set(variable, all);
	}
	return values;
}

/** The variables that stand for each other, and those between. */
function circlingNames(values: ReadonlyMap<string, readonly Assigned[]>): ReadonlySet<string> {
	const uses = [...values].flatMap(([name, all]) =>
		[...new Set(all.flatMap(({ variables }) => variables))].map((used) => [name, used] as const),
	);
	const from = withoutEnds([...values.keys()], uses);
	return withoutEnds(
		[...from],
		uses.map(([name, used]) => [used, name] as const),
	);
}

/** The names that lead to a circle: those that lead to no other one are taken away until there are none. */
function withoutEnds(names: readonly string[], steps: readonly (readonly [name: string, next: string])[]) {
	const left = new Set(names);
	const within = steps.filter(([name, next]) => left.has(name) && left.has(next));
	const before = new Map<string, string[]>();
	const count = new Map<string, number>();
	for (const [name, next] of within) {
		const all = before.get(next) ?? [];
		all.push(name);
		before.set(next, all);
		count.set(name, (count.get(name) ?? 0) + 1);
	}
	const ends = names.filter((name) => !count.has(name));
	for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
		left.delete(end);
		for (const name of before.get(end) ?? []) {
			const others = (count.get(name) ?? 0) - 1;
			count.set(name, others);
			if (others === 0) ends.push(name);
		}
	}
	return left;
}
