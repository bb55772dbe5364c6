import test from 'ava';
import { flood } from './floods.js';

const seconds = 30;

test.serial('a thousand times the whole area as a ZIP', flood, 'roots', seconds);
test.serial('ZIPs of a thousand items that lie in each other', flood, 'nested', seconds);
test.serial('25 connections of 40 pipelined downloads that nobody reads', flood, 'pipelines', seconds);
test.serial('JSON of 15 MB on 120 connections', flood, 'bodies', seconds);
test.serial('tickets of a thousand files', flood, 'tickets', seconds);
test.serial('uploads of one name', flood, 'names', seconds);
test.serial('sign-ins on 90 connections', flood, 'signIns', seconds);
