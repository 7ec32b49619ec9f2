#!/bin/sh
# A load sensor: reports how much room /tmp has. To use it:
#
#   fairlead resource add scratch type=MEMORY consumable=NO
#   fairlead set load_sensor=/absolute/path/of/scratch-sensor.sh
#   fairlead submit -l scratch=10G -- program
#
# A sensor answers each line on its standard input with a report, and ends when the line is "quit". Reports for Grid Engine
# are the same.
while read -r line; do
    [ "$line" = quit ] && exit 0
    echo begin
    echo "localhost:scratch:$(df -Pk /tmp | awk 'NR == 2 { print $4 }')K"
    echo end
done
