import { writeSync } from 'node:fs';
import Libsql from 'libsql';

/** Holds the write lock of an SQLite file, as another program could, until its input ends. */
const [path = ''] = process.argv.slice(2);
const connection = new Libsql(path);
connection.exec('BEGIN IMMEDIATE');
writeSync(1, 'locked\n');
for await (const _ of process.stdin);
connection.exec('COMMIT');
connection.close();
