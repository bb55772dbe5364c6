import { isEntry, schemas } from '@stowage/contract';
import test from 'ava';
import fc from 'fast-check';

const odd = fc.oneof(
	fc.jsonValue(),
	fc.constant(undefined),
	fc.constantFrom('file', 'directory', true, false, null, 0),
);
const sound = {
	name: fc.string(),
	path: fc.string(),
	type: fc.constantFrom('file', 'directory'),
	size: fc.nat(),
	mtime: fc.integer(),
	owner: fc.option(fc.string()),
	count: fc.nat(),
	protected: fc.constant(true),
};

test('the check by hand takes what the schema takes, and nothing else', (t) => {
	let taken = 0;
	let refused = 0;
	const agree = (value: unknown) => {
		const parsed = schemas.entry.safeParse(value);
		if (parsed.success) taken++;
		else refused++;
		t.is(isEntry(value), parsed.success, JSON.stringify(value));
	};
	fc.assert(fc.property(fc.jsonValue(), agree));
	fc.assert(fc.property(fc.record(sound, { requiredKeys: ['name', 'path', 'type', 'size', 'mtime'] }), agree));
	// Sound ones of which one field is odd or missing.
	fc.assert(
		fc.property(fc.record(sound), fc.constantFrom(...Object.keys(sound)), odd, (entry, key, value) =>
			agree(JSON.parse(JSON.stringify({ ...entry, [key]: value }))),
		),
		{ numRuns: 1000 },
	);
	t.true(taken > 100 && refused > 100, `${taken} taken, ${refused} refused`);
});
