import test from 'ava';
import {
	conversionQuality,
	conversionQualityLabel,
	conversionRateFactor,
	convertedName,
	givenConversionName,
	isFailure,
	utf8Length,
} from '../../src/index.js';

const label = test.macro((t, quality: number, text: string) => t.is(conversionQualityLabel(quality), text));
test('35 is the maximum', label, 35, 'Maximum Quality (Very Large Files)');
test('34 is high', label, 34, 'High Quality (Large Files)');
test('30 is high', label, 30, 'High Quality (Large Files)');
test('29 is good', label, 29, 'Good Quality (Medium Files)');
test('The default is good', label, conversionQuality.default, 'Good Quality (Medium Files)');
test('24 is low', label, 24, 'Low Quality (Small Files)');
test('20 is low', label, 20, 'Low Quality (Small Files)');
test('19 is the minimum', label, 19, 'Minimum Quality (Very Small Files)');

test('The best quality is sent as the lowest rate factor', (t) => {
	t.is(conversionRateFactor(conversionQuality.max), 18);
	t.is(conversionRateFactor(conversionQuality.default), 25);
	t.is(conversionRateFactor(conversionQuality.min), 35);
});

test('Beside its original a converted video is told apart by its name', (t) => {
	t.is(convertedName('Holiday.mov', 'mp4', false), 'Holiday_converted.mp4');
	t.is(convertedName('a.b.mp4', 'mp4', false), 'a.b_converted.mp4');
	t.is(convertedName('-x y.webm', 'mkv', false), '-x y_converted.mkv');
});

test('In place of its original a converted video has its base name', (t) => {
	t.is(convertedName('Holiday.mov', 'webm', true), 'Holiday.webm');
	t.is(convertedName('Holiday.mp4', 'mp4', true), 'Holiday.mp4');
});

test('The name of a converted video can be given, however long the original has it', (t) => {
	const name = convertedName(`${'漢'.repeat(83)}.mov`, 'webm', false);
	t.true(utf8Length(name) <= 255);
	t.true(name.endsWith('漢_converted.webm'));
});

test("A given name gets the format's extension, in place of another one of a video", (t) => {
	t.is(givenConversionName(' Holiday ', 'mp4'), 'Holiday.mp4');
	t.is(givenConversionName('Holiday.mp4', 'mp4'), 'Holiday.mp4');
	t.is(givenConversionName('Holiday.MOV', 'mkv'), 'Holiday.mkv');
	t.is(givenConversionName('Version 2.0', 'webm'), 'Version 2.0.webm');
	t.is(givenConversionName('--version', 'mp4'), '--version.mp4');
	for (const name of ['', '  ', '../a', 'a/b', 'a\\b', 'a\0', 'x'.repeat(255)]) {
		const error = t.throws(() => givenConversionName(name, 'mp4'));
		t.true(isFailure(error, 'invalidName'), name);
	}
});
