import config from '@hapi/hapi/lib/config.js';

/** Most servers have five: few settings differ between routes. */
const maxKnown = 100;

/** What hapi made of settings, by what they are. */
const known = new Map<string, object>();

const check = config.apply;

/**
 * hapi checks and completes the merged settings of each route by a schema, which is most of what registering a route
 * costs. Those that are equal but for `app` are checked once in a process; settings with functions or other objects
 * than plain ones are checked each time.
 */
export function checkEqualRoutesOnce(): void {
	config.apply = (kind, settings, ...place) => {
		const key = kind === 'routeConfig' ? keyOf(settings) : undefined;
		const checked = key === undefined ? undefined : known.get(key);
		// hapi goes on changing the settings of a route.
		if (checked !== undefined) return { ...(copy(checked) as object), app: (settings as { app?: unknown }).app };
		const result = check(kind, settings, ...place);
		if (key !== undefined && known.size < maxKnown) known.set(key, copy(result) as object);
		return result;
	};
}

/** The same for equal settings only; undefined if they hold what has no text. */
function keyOf(settings: object): string | undefined {
	let isPlain = true;
	const key = JSON.stringify({ ...settings, app: undefined }, (_name, value: unknown) => {
		if (typeof value === 'object') isPlain &&= value === null || Array.isArray(value) || isPlainObject(value);
		else if (typeof value === 'number') isPlain &&= Number.isFinite(value);
		else isPlain &&= ['string', 'boolean', 'undefined'].includes(typeof value);
		return value;
	});
	return isPlain ? key : undefined;
}

function isPlainObject(value: object): boolean {
	const prototype: unknown = Object.getPrototypeOf(value);
	return prototype === Object.prototype || prototype === null;
}

/** Objects of classes and functions stay the same. */
function copy(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(copy);
	if (typeof value !== 'object' || value === null || !isPlainObject(value)) return value;
	return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copy(each)]));
}
