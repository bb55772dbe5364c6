import { isEntry, schemas } from '@stowage/contract';
import test from 'ava';
import fc from 'fast-check';

const anyValue = fc.oneof(
	fc.jsonValue(),
	fc.constant(undefined),
	fc.constantFrom('file', 'directory', true, false, null, 0),
);
const validEntry = {
	name: fc.string(),
	path: fc.string(),
	type: fc.constantFrom('file', 'directory'),
	size: fc.nat(),
	mtime: fc.integer(),
	owner: fc.option(fc.string()),
	count: fc.nat(),
	protected: fc.constant(true),
	unreadable: fc.constant(true),
};

test('isEntry accepts exactly the values that the schema accepts', (t) => {
	let accepted = 0;
	let refused = 0;
	const agree = (value: unknown) => {
		const parsed = schemas.entry.safeParse(value);
		if (parsed.success) accepted++;
		else refused++;
		t.is(isEntry(value), parsed.success, JSON.stringify(value));
	};
	fc.assert(fc.property(fc.jsonValue(), agree));
	fc.assert(fc.property(fc.record(validEntry, { requiredKeys: ['name', 'path', 'type', 'size', 'mtime'] }), agree));
	// Valid entries with one field replaced or missing.
	fc.assert(
		fc.property(fc.record(validEntry), fc.constantFrom(...Object.keys(validEntry)), anyValue, (entry, key, value) =>
			agree(JSON.parse(JSON.stringify({ ...entry, [key]: value }))),
		),
		{ numRuns: 1000 },
	);
	t.true(accepted > 100 && refused > 100, `${accepted} accepted, ${refused} refused`);
});
