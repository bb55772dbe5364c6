import type { Rule } from './rules.js';

/** Which storage root belongs to the database. */
export function rootRules(rule: Rule): void {
	rule('a storage root is known by the id that was set last', async (t, { roots }) => {
		t.is(await roots.find('default'), undefined);
		await roots.set('default', 'one');
		await roots.set('archive', 'other');
		t.is(await roots.find('default'), 'one');
		await roots.set('default', 'two');
		t.is(await roots.find('default'), 'two');
		t.is(await roots.find('archive'), 'other');
		t.is(await roots.find('Default'), undefined);
	});
}
