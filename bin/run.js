#!/usr/bin/env node
// Plain old JavaScript: it must parse on the Node that it refuses.
'use strict';
