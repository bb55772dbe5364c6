import test from 'ava';
import { findDoctype, skipMisc } from '../../src/index.js';

const without = test.macro({
	exec: (t, text: string, expected: string) => {
		const found = findDoctype(text);
		t.is(typeof found === 'string' ? found : text.slice(0, found.start) + text.slice(found.end), expected);
	},
	title: (_, text) => `the document type is found in ${JSON.stringify(text)}`,
});
test(without, '<!DOCTYPE html><html/>', '<html/>');
test(
	without,
	'\uFEFF<?xml version="1.0"?>\n<!-- <!DOCTYPE no> -->\n<!doctype html>x',
	'\uFEFF<?xml version="1.0"?>\n<!-- <!DOCTYPE no> -->\nx',
);
test(without, '<!DOCTYPE a SYSTEM "x>y" [<!ENTITY b "]>">]>x', 'x');
test(without, "<!DOCTYPE a [<!-- it's ]> --><?p ]> \"?><!ENTITY b '\"'>] >x", 'x');
test(without, '<html><!DOCTYPE a></html>', 'none');
test(without, 'text', 'none');
test(without, '', 'none');
test(without, '<!-- <!DOCTYPE a>', 'broken');
test(without, '<?xml <!DOCTYPE a>', 'broken');
test(without, '<!DOCTYPE a "> b>', 'broken');
test(without, '<!DOCTYPE a [<!ENTITY b "c">', 'broken');
test(without, '<!DOCTYPE', 'broken');

test('comments, instructions and white space are skipped', (t) => {
	t.is(skipMisc(' <!----><?a?>\n<!-- - -- -->b', 0), 27);
	t.is(skipMisc('', 0), 0);
	t.is(skipMisc('<!-->', 0), undefined);
});
