import test from 'ava';
import { extensionOf, type FileType, fileType } from '../../src/index.js';

const typed = test.macro({
	exec: (t, name: string, type: FileType) => t.is(fileType(name), type),
	title: (_, name, type) => `${name} is of the type ${type}`,
});
test(typed, 'a.pdf', 'pdf');
test(typed, 'a.docx', 'document');
test(typed, 'a.txt', 'text');
test(typed, 'a.epub', 'epub');
test(typed, 'a.xlsx', 'spreadsheet');
test(typed, 'a.csv', 'spreadsheet');
test(typed, 'a.JPEG', 'image');
test(typed, 'a.svg', 'image');
test(typed, 'a.mkv', 'video');
test(typed, 'a.flac', 'audio');
test(typed, 'a.tar.gz', 'archive');
test(typed, 'a.ts', 'code');
test(typed, 'a.html', 'code');
test(typed, 'a.exe', 'executable');
test(typed, 'a.pptx', 'presentation');
test(typed, 'README.md', 'markdown');
test(typed, 'a.sqlite', 'database');
test(typed, 'a.woff2', 'font');
test(typed, 'a.sh', 'script');
test(typed, 'a.yaml', 'config');
test(typed, 'a.log', 'log');
test(typed, 'a.pem', 'certificate');
test(typed, 'a.bak', 'backup');
test(typed, 'a.unheard', 'other');
test(typed, 'Makefile', 'other');
test(typed, '.pdf', 'other');
test(typed, 'a.', 'other');
test(typed, 'a.constructor', 'other');

test('an extension is in lower case and without its dot', (t) => {
	t.is(extensionOf('a.tar.GZ'), 'gz');
	t.is(extensionOf('.env'), '');
});
